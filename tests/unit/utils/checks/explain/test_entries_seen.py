"""What is said of the entries of weights and masks is true."""

import numpy as np
import pytest

from utils.checks.explain.seen.entries_seen import of_flags, of_shares


def softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum(-1, keepdims=True)


SCORES = np.array([[0.1, 2.0, -1.0], [1.5, 0.2, 0.9]])


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (softmax(SCORES / 2), ["too even: as if from scores that are too small."]),
        (softmax(SCORES * 2), ["too sharp: as if from scores that are too large."]),
        (softmax(SCORES), []),
        (softmax(-SCORES), []),
        (softmax(SCORES * np.array([[2.0], [0.5]])), []),
    ],
)
def test_weights_in_the_right_order_are_told_to_be_too_even_or_too_decided(got, says):
    found = list(of_shares("weights", softmax(SCORES), got))
    start = "Each row of weights is in the right order, but "
    assert found == [start + end for end in says]


def test_a_row_with_nothing_allowed_is_not_said_to_sum_to_one_and_not_to_one():
    right = np.array([[0.0, 0.0], [0.25, 0.75]])
    assert list(of_shares("weights", right, np.array([[0.5, 0.5], [0.25, 0.75]]))) == [
        "A row of weights sums to 1, not to zero: nothing is allowed in it."
    ]


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ([True, True, False, False], ["False at 1 place where it should be True"]),
        ([True, True, True, True], ["True at 1 place where it should be False"]),
        ([False, False, False, True], ["exactly upside down"]),
        ([True, True, False, True], []),
    ],
)
def test_a_mask_is_told_which_of_the_two_values_is_out_of_place(got, says):
    found = list(of_flags("mask", np.array([True, True, True, False]), np.array(got)))
    assert len(found) == len(says)
    assert all(one in other for one, other in zip(says, found, strict=True))

"""A prediction in few digits is known as the number that it rounds."""

import pytest

from utils.checks import check
from utils.checks.compare.rounded import is_rounded


@pytest.mark.parametrize(
    ("said", "meant"),
    [(0.52, 0.524), (67, 66.65), (1.5, 1.549), (2_100_000, 2_097_152), (0.333, 1 / 3)],
)
def test_two_digits_or_more_of_a_number_are_that_number(said, meant):
    assert is_rounded(said, meant)


@pytest.mark.parametrize(
    ("said", "meant"),
    [(0.53, 0.524), (1.6, 1.549), (66, 66.65), (0.5, 0.524), (300, 301.2), (True, 1), (1, True),
     (float("nan"), 2.0), (float("inf"), 2.0), (1e300, 2.0), (10**400, 3), ("0.52", 0.524)],
)  # fmt: skip
def test_another_number_one_digit_and_what_is_no_number_are_not(said, meant):
    assert not is_rounded(said, meant)


@pytest.mark.parametrize(("said", "cause"), [(0.52, "half"), (67, "in_percent"), (0.7, None)])
def test_a_wrong_prediction_in_two_digits_is_named(said, cause):
    mistake = check.predict_feed_forward_share.verdict(said).mistake
    assert (mistake.name if mistake else None) == cause

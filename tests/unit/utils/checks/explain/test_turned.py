"""A fault of the form and one of the numbers at once: both are told."""

from dataclasses import replace

import pytest
import torch

from utils.checks.api import ExerciseCheck
from utils.checks.registry import exercises


def scores(query, keys, w_q, w_k, v):
    return torch.tanh((query @ w_q.T)[:, None] + keys @ w_k.T) @ v


def told(answer, exercise):
    """What is said where the bank knows no answer of another form."""
    asked = exercises()[exercise]
    mistakes = tuple(m for m in asked.mistakes if "axis" not in m.name)
    verdict = ExerciseCheck(replace(asked, mistakes=mistakes)).verdict(answer)
    return [m.message for m in (verdict.mistake, verdict.second) if m is not None]


def test_a_mask_upside_down_that_lacks_an_axis_is_told_both():
    first, second = told(lambda size: torch.ones(size, size).triu().bool(), "causal_mask")
    assert first == "mask lacks an axis of size one."
    assert "after" in second


def test_exchanged_axes_and_wrong_numbers_are_told_both():
    def turned_and_shifted(lengths, max_len):
        return (torch.arange(max_len) <= lengths[:, None]).unsqueeze(-1)

    first, second = told(turned_and_shifted, "padding_mask")
    assert first == "mask has its axes 1 and 2 in another order."
    assert "one position too many" in second


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_too_many_alone_is_never_told_as_two_faults(axis):
    def kept(*inputs):
        return scores(*inputs).unsqueeze(axis)

    assert len(told(kept, "additive_scores")) < 2


def causes(answer, exercise):
    verdict = ExerciseCheck(exercises()[exercise]).verdict(answer)
    return [m.name for m in (verdict.mistake, verdict.second) if m is not None]


def test_a_tensor_in_a_numbers_place_is_told_beside_what_is_wrong_with_the_number():
    def errors(logits, tags):
        real = tags != -100
        return (logits.argmax(-1) != tags)[real].float().mean()

    assert causes(errors, "accuracy") == ["tensor_for_a_number", "share_of_errors"]


def test_right_numbers_in_a_list_are_told_to_be_a_list():
    def rows(*inputs):
        return scores(*inputs).tolist()

    assert causes(rows, "additive_scores") == ["list_for_a_tensor"]


def test_a_list_that_the_bank_knows_is_told_by_the_bank():
    def rows(targets, bos):
        return [[bos, *row[:-1]] for row in targets.tolist()]

    assert causes(rows, "shift_right") == ["list_returned"]


def test_a_pair_with_a_right_first_part_is_told_that_alone():
    def pair(a, b):
        product = a @ b.mT
        return product, 0 * product

    assert causes(pair, "pairwise_dot") == ["several_for_one"]

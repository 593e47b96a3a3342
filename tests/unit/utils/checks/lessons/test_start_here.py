"""Lesson 00's cases against wrong answers that once passed, and what its bank says of them."""

import pytest
import torch

from grader.authoring.lesson import lessons
from tests.course.lesson_runs import ROOT
from utils.checks import check

(LESSON,) = lessons(ROOT, ["00_start_here"])


def graded(name, answer):
    exercise = next(e for e in LESSON.exercises if e.id == name)
    verdict = getattr(check, name).verdict
    return verdict(answer, points=exercise.points, hidden=exercise.hidden)


def missed(verdict):
    return {r.case.demand for r in verdict.results if not r.passed}


def softmax_with(fill):
    """Put a large negative number in the place of minus infinity, except in blocked slices."""

    def answer(x, dim=-1):
        blocked = (x == -torch.inf).all(dim, keepdim=True)
        scores = x.nan_to_num(neginf=fill)
        powers = (scores - scores.amax(dim, keepdim=True)).exp()
        return (powers / powers.sum(dim, keepdim=True)).masked_fill(blocked, 0.0)

    return answer


@pytest.mark.parametrize("fill", [-1e3, -1e4, -1e6])
def test_a_weak_fill_beside_scores_far_below_zero_loses_points_and_is_named(fill):
    verdict = graded("stable_softmax", softmax_with(fill))
    assert missed(verdict) == {"minus infinity beside scores far below zero"}
    assert verdict.idea_is_right
    assert "get weight" in verdict.mistake.message


def test_the_formula_that_the_lesson_has_just_shown_to_overflow_earns_little():
    verdict = graded("stable_softmax", lambda x, dim=-1: x.exp() / x.exp().sum(dim, keepdim=True))
    assert verdict.mistake.name == "no_shift"
    assert 0 < verdict.earned < 0.4


def test_the_lowest_number_in_the_place_of_minus_infinity_earns_all():
    assert graded("stable_softmax", softmax_with(torch.finfo(torch.float32).min)).passed


def test_a_count_kept_from_an_earlier_call_of_the_same_sizes_is_caught():
    kept = {}

    def answer(x, mask):
        count = kept.setdefault(tuple(x.shape), mask.sum(1, keepdim=True).clamp(min=1))
        return (x * mask[..., None]).sum(1) / count

    assert not graded("masked_mean", answer).passed


LOOPS = {
    "over the batch": lambda a, b: torch.stack([x @ y.T for x, y in zip(a, b, strict=True)]),
    "over a's vectors": lambda a, b: torch.stack(
        [(b @ a[:, t, :, None])[..., 0] for t in range(a.shape[1])], 1
    ),
    "over D": lambda a, b: sum(a[:, :, None, d] * b[:, None, :, d] for d in range(a.shape[2])),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_misses_the_demand_alone(loop):
    verdict = graded("pairwise_dot", LOOPS[loop])
    assert missed(verdict) == {"no loop"}
    assert 0.9 <= verdict.earned < 1.0
    assert "more calls of torch" in verdict.first_failure.finding.message

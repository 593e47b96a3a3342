"""Results without a finite number name no mistake; said is where the first NaN comes up."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.utils.checks.observe.students_cell import written
from utils.checks import check
from utils.checks.compare.compare import compare
from utils.checks.judge import judge
from utils.checks.observe.observe import observe_all
from utils.checks.registry import exercises


def verdict_of(line, points=None):
    """Judge an `attend` whose weights are made as a line says."""
    source = (
        "def attend(scores, values, mask=None):\n"
        "    if mask is not None:\n"
        "        scores = scores.masked_fill(~mask, -1e4)\n"
        f"    {line}\n"
        "    return torch.einsum('bs,bsd->bd', weights, values), weights\n"
    )
    return check.attend.verdict(written(source, "attend"), points=points)


LOST = {
    "weights = (scores * 0) / 0": "it computes 0 / 0, at [0, 0]",
    "weights = 0 * scores; weights = weights / weights": "it computes 0 / 0, at [0, 0]",
    "weights = torch.log(-1 - scores.abs())": "`log` is asked for -",
    "weights = (-1 - scores.abs()).sqrt()": "`sqrt` is asked for -",
    "weights = (-1 - scores.abs()) ** 0.5": "** 0.5, at [0, 0]",
    "weights = (scores.abs() + 1e3).exp() * 0": "it computes inf * 0, at [0, 0]",
    "weights = (0 * scores).softmax(-1) * torch.full_like(scores, torch.nan)": "",
    "weights = (0 * scores - torch.inf).softmax(-1)": "`softmax` gives it for numbers that are not",
    "weights = 1 / (0 * scores) - 1 / (0 * scores)": "it computes inf - inf, at [0, 0]",
}


@pytest.mark.parametrize("line", LOST)
def test_a_result_without_a_number_names_nothing_and_its_first_nan_is_told_with_its_line(line):
    verdict = verdict_of(line)
    assert (verdict.mistake, verdict.second) == (None, None)
    first = [text for text in verdict.symptoms if text.startswith("The first NaN comes up")]
    if LOST[line]:
        assert line in first[0]
        assert LOST[line] in first[0]
    else:  # written down, and by no step
        assert not first


@pytest.mark.parametrize("line", LOST)
def test_in_grading_a_result_without_a_number_names_nothing(line):
    verdict = verdict_of(line, points=3.0)
    assert (verdict.mistake, verdict.second) == (None, None)
    assert verdict.symptoms == ("Every entry of weights is NaN, though all inputs are finite.",)


def test_an_infinite_result_is_told_as_that():
    verdict = verdict_of("weights = (scores.abs() + 1e3).exp()", points=3.0)
    assert verdict.mistake is None
    assert verdict.symptoms == (
        "Every entry of weights is infinite, though all inputs are finite.",
    )


def test_where_nan_is_made_of_infinite_numbers_the_first_of_these_is_told_too():
    verdict = verdict_of("weights = (scores.abs() + 1e3).exp(); weights = weights / weights")
    assert "it computes inf / inf, at [0, 0]" in verdict.symptoms[0]
    assert "The first infinite number comes up" in verdict.symptoms[1]
    assert "`exp` is asked for 100" in verdict.symptoms[1]


@pytest.mark.parametrize("exercise", sorted(exercises()))
def test_nan_in_the_place_of_all_results_is_taken_for_no_mistake_of_any_exercise(exercise):
    known = exercises()[exercise]
    probe = known.probe
    cases = [c for c in probe.cases if not c.demand]
    seen = observe_all(probe, cases, known.oracle)
    lost = [observation_of_nan(one) for one in seen]
    if any(compare(one, other, 1e-5, {}) is None for one, other in zip(seen, lost, strict=True)):
        pytest.skip("its results are no numbers")
    verdict = judge(known, cases, lost)
    assert (verdict.mistake, verdict.second) == (None, None)


def observation_of_nan(seen):
    """Put NaN in the place of every float result."""

    def nan(value):
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return np.full_like(value, np.nan)
        return float("nan") if isinstance(value, float) else value

    return replace(seen, values={k: nan(v) for k, v in seen.values.items()}, gradients={})


def test_a_mistake_that_other_cases_tell_is_named_though_one_result_has_no_number():
    verdict = verdict_of("weights = scores / scores.sum(-1, keepdim=True)")
    assert verdict.mistake is not None


def test_numbers_beside_nan_are_not_called_the_same_everywhere():
    verdict = verdict_of("weights = torch.where(scores > 0, torch.nan, torch.zeros_like(scores))")
    assert not any("same number everywhere" in text for text in verdict.symptoms)

"""Knowing what is shown by heart is worth half of an exercise at most."""

import pytest

from grader.reading.plan import cases_of
from tests.course.lesson_runs import exercise_ids, lesson_of
from utils.checks.compare.compare import Finding
from utils.checks.observation import ProblemKind
from utils.checks.registry import exercises
from utils.checks.verdict import CaseResult, Verdict

WRONG = Finding(ProblemKind.NOTHING, "", "Nothing comes back.")
SHOWN_WHOLE = ("predict", "test the test")  # nothing is computed from inputs that could be known


@pytest.mark.parametrize(
    "exercise", [e for e in exercise_ids() if exercises()[e].probe.kind not in SHOWN_WHOLE]
)
def test_an_answer_right_on_the_visible_cases_alone_earns_half_at_most(exercise):
    cases = cases_of(lesson_of(exercise), exercise)
    assert any(case.hidden and case.is_core for case in cases)
    results = tuple(CaseResult(case, WRONG if case.hidden else None) for case in cases)
    assert Verdict(exercise, results).earned <= 0.5 + 1e-9


@pytest.mark.parametrize("exercise", exercise_ids())
def test_a_failing_hidden_case_of_the_idea_costs_as_much_as_a_visible_one(exercise):
    cases = [c for c in cases_of(lesson_of(exercise), exercise) if c.is_core]
    costs = {False: [], True: []}
    for failing in cases:
        results = tuple(CaseResult(c, WRONG if c is failing else None) for c in cases)
        if not failing.required:
            costs[failing.hidden].append(1 - Verdict(exercise, results).earned)
    if costs[False] and costs[True]:
        assert min(costs[True]) >= max(costs[False]) - 1e-9

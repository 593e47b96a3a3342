"""Hidden cases under a class's secret: other numbers, the same demands, the same fair points."""

import inspect
import json
from functools import cache

import pytest
import torch
from torch import nn

from grader.authoring.notebook import source_notebook
from grader.course.secret import varied
from grader.judging.pipeline import grade_submission
from grader.reading.plan import cases_of
from grader.sandbox import CannotIsolate, Limits, require
from tests.course.lesson_runs import all_lessons, exercise_ids, lesson_of, names_of
from tests.course.right_forms import RIGHT_FORMS
from utils.checks.api import ExerciseCheck
from utils.checks.registry import exercises, probes
from utils.checks.variation import VARIATION

SECRETS = ("autumn, group A", "autumn, group B", "spring, everybody")
pytestmark = pytest.mark.usefixtures("one_fork_server")
# Questions that hold no random number: sizes, a text or a list of lengths are all there is to them.
NOTHING_DRAWN = {
    "padding_mask", "causal_mask", "MultiHeadAttention: 15 features for 6 heads",
    "sinusoidal_encoding", "repaired_encoding", "shift_matrix", "count_parameters",
    "build_vocab", "alibi_bias", "collate: nothing but an empty sentence",
    "bucket_batches: all past the budget", "bucket_batches: empty sentences",
    "bucket_batches: one sentence", "bucket_batches: nothing", "noam_rate", "word_pieces",
}  # fmt: skip
solutions_of = cache(lambda lesson: names_of(all_lessons()[lesson]))


def hidden(exercise, secret):
    lesson = varied(lesson_of(exercise), secret)
    return next(e for e in lesson.exercises if e.id == exercise)


def share(exercise, answer, secret):
    asked = hidden(exercise, secret)
    verdict = ExerciseCheck(exercises()[exercise]).verdict(
        answer, points=asked.points, hidden=asked.hidden
    )
    return verdict.score / asked.points


def as_text(value):
    if inspect.isfunction(value):
        return value.__qualname__  # what it holds stands among the other inputs
    return repr(dict(value.state_dict()) if isinstance(value, nn.Module) else value)


def drawn(exercise, secret):
    """Every number that each hidden case holds, by the case's name."""
    cases = [c for c in cases_of(varied(lesson_of(exercise), secret), exercise) if c.hidden]
    torch.set_printoptions(profile="full")
    try:
        return {
            case.name: {k: as_text(v) for k, v in probes()[exercise].make(case.params).items()}
            for case in cases
        }
    finally:
        torch.set_printoptions(profile="default")


ASKED = [name for name in exercise_ids() if hidden(name, "").hidden and not probes()[name].served]


@pytest.mark.table
@pytest.mark.parametrize("exercise", exercise_ids())
def test_under_any_secret_the_solution_and_other_right_forms_earn_all_points(exercise):
    solution = solutions_of(lesson_of(exercise).name)[exercise]
    losing = [
        (secret, number)
        for secret in SECRETS
        for number, form in enumerate([solution, *RIGHT_FORMS[exercise]])
        if share(exercise, form, secret) != 1
    ]
    assert not losing


@pytest.mark.table
@pytest.mark.parametrize("exercise", ASKED)
def test_two_students_of_one_class_get_the_same_inputs(exercise):
    assert drawn(exercise, SECRETS[0]) == drawn(exercise, SECRETS[0])


@pytest.mark.table
@pytest.mark.parametrize("exercise", ASKED)
def test_another_secret_gives_other_inputs_wherever_inputs_are_drawn(exercise):
    public, one, other = (drawn(exercise, secret) for secret in ("", *SECRETS[:2]))
    for case in public:
        alike = public[case] == one[case] or one[case] == other[case]
        assert alike == bool({exercise, f"{exercise}: {case}"} & NOTHING_DRAWN), case


def test_a_secret_changes_nothing_that_a_case_tests():
    for lesson in all_lessons().values():
        for public, private in zip(
            lesson.exercises, varied(lesson, SECRETS[0]).exercises, strict=True
        ):
            assert private.points == public.points
            assert [case | {VARIATION: ""} for case in public.hidden] == [
                case | {VARIATION: ""} for case in private.hidden
            ]


def test_each_hidden_case_has_a_word_of_its_own_and_none_tells_the_secret():
    words = [
        case[VARIATION]
        for lesson in all_lessons().values()
        for exercise in varied(lesson, SECRETS[0]).exercises
        for case in exercise.hidden
    ]
    assert len(set(words)) == len(words)
    assert not any(SECRETS[0] in word for word in words)


@pytest.mark.parametrize("lesson", ["02_attention", "04_positional_encoding"])
def test_the_engine_grades_by_the_private_cases_on_both_sides(lesson):
    try:
        require((), Limits())
    except CannotIsolate as error:
        pytest.skip(f"this machine cannot isolate: {error}")
    right = json.dumps(source_notebook(all_lessons()[lesson])).encode()
    outcome = grade_submission(right, varied(all_lessons()[lesson], SECRETS[0]))
    assert outcome.score == all_lessons()[lesson].points

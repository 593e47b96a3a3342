"""Hidden cases under a class's secret: other numbers, the same demands, the same fair points."""

import inspect
import json
from functools import cache

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

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


class Drawing(TorchFunctionMode):
    """A mode that notes whether torch draws a number."""

    NAMES = ("rand", "normal", "uniform", "bernoulli", "multinomial", "exponential")

    def __init__(self):
        super().__init__()
        self.drew = False

    def __torch_function__(self, called, types, args=(), kwargs=None):
        result = called(*args, **(kwargs or {}))
        self.drew |= called.__name__.startswith(self.NAMES) and result.numel() > 0
        return result


def is_drawn(exercise, case):
    """Whether a hidden case's inputs hold a drawn number, and are no sizes or texts alone."""
    (asked,) = (c for c in cases_of(lesson_of(exercise), exercise) if c.hidden and c.name == case)
    with Drawing() as drawing:
        probes()[exercise].make(asked.params)
    return drawing.drew


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
        assert alike != is_drawn(exercise, case), case


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


@pytest.mark.parametrize("lesson", ["02_attention", "04_positional_encoding", "06b_writing_lab"])
def test_the_engine_grades_by_the_private_cases_on_both_sides(lesson):
    try:
        require((), Limits())
    except CannotIsolate as error:
        pytest.skip(f"this machine cannot isolate: {error}")
    right = json.dumps(source_notebook(all_lessons()[lesson])).encode()
    outcome = grade_submission(right, varied(all_lessons()[lesson], SECRETS[0]))
    assert outcome.score == all_lessons()[lesson].points

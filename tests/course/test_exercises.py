"""Every exercise: right answers earn all; wrong ones are caught, named, and cost no other."""

import json
from functools import cache

import pytest
import torch

from tests.course.lesson_runs import Run, all_lessons, exercise_ids, lesson_of, run_lesson
from tests.course.right_forms import RIGHT_FORMS
from utils.checks import check
from utils.checks.combining import made
from utils.checks.exercise import hidden_case
from utils.checks.lessons.inputs import ALIKE
from utils.checks.registry import exercises

pytestmark = pytest.mark.table
each_exercise = pytest.mark.parametrize("exercise", exercise_ids())


@cache
def solution_run(lesson: str) -> Run:
    return run_lesson(all_lessons()[lesson])


def run_with(exercise: str, answer: object) -> Run:
    lesson = lesson_of(exercise)
    return run_lesson(lesson, {exercise: answer}, solution_run(lesson.name))


def stub(*_args, **_kwargs):
    raise NotImplementedError


@each_exercise
def test_the_solution_earns_all_points(exercise):
    run = solution_run(lesson_of(exercise).name)
    points = {e.id: e.points for e in lesson_of(exercise).exercises}
    assert run.scores[exercise] == points[exercise]
    assert run.verdicts[exercise].mistake is None


def points_of_others(exercise: str) -> dict[str, float]:
    return {e.id: e.points for e in lesson_of(exercise).exercises if e.id != exercise}


@each_exercise
def test_a_stub_earns_nothing_is_called_not_written_yet_and_costs_no_other_exercise(exercise):
    unwritten = None if exercises()[exercise].probe.kind == "predict" else stub
    run = run_with(exercise, unwritten)
    assert run.scores.pop(exercise) == 0
    assert run.verdicts[exercise].is_stub
    assert run.scores == points_of_others(exercise)


@each_exercise
def test_known_mistakes_lose_points_and_are_named(exercise):
    asked = next(e for e in lesson_of(exercise).exercises if e.id == exercise)
    told = {}
    for mistake in exercises()[exercise].mistakes:
        verdict = getattr(check, exercise).verdict(
            made(mistake.answer), points=asked.points, hidden=asked.hidden
        )
        assert verdict.score < asked.points * (1.0 if verdict.idea_is_right else 0.95), mistake.name
        told[mistake.name] = None if verdict.mistake is None else verdict.mistake.name
    assert told == {name: name for name in told}


# Other exercises are observed with stand-ins, whatever the variant: one for each exercise will do.
@each_exercise
def test_a_known_mistake_costs_no_other_exercise(exercise):
    bank = [m for m in exercises()[exercise].mistakes if m.answer is not None]
    run = run_with(exercise, made(bank[len(bank) // 2].answer))
    run.scores.pop(exercise)
    assert run.scores == points_of_others(exercise)


@cache
def run_of_other_forms(lesson: str, number: int) -> Run:
    """One run of a lesson with the form of this number of every exercise that has so many."""
    ids = [e.id for e in all_lessons()[lesson].exercises if len(RIGHT_FORMS[e.id]) > number]
    return run_lesson(all_lessons()[lesson], {name: RIGHT_FORMS[name][number] for name in ids})


# Other exercises are observed with stand-ins, so that all forms of one number go into one run.
@each_exercise
def test_other_right_forms_earn_all_points(exercise):
    lesson = lesson_of(exercise)
    points = {e.id: e.points for e in lesson.exercises}
    for number in range(len(RIGHT_FORMS[exercise])):
        run = run_of_other_forms(lesson.name, number)
        assert run.scores[exercise] == points[exercise], number
        assert run.verdicts[exercise].passed, number
        assert run.scores == points, number


def test_every_exercise_has_a_check_two_mistakes_and_two_other_right_forms():
    assert set(exercise_ids()) == set(exercises())
    for name, exercise in exercises().items():
        assert len(exercise.mistakes) >= 2, name
        assert len(RIGHT_FORMS[name]) >= 2, name
        assert len({m.name for m in exercise.mistakes}) == len(exercise.mistakes), name


@each_exercise
def test_all_sizes_of_a_case_are_distinct(exercise):
    probe = exercises()[exercise].probe
    hidden = next(e.hidden for e in lesson_of(exercise).exercises if e.id == exercise)
    cases = [*probe.cases, *map(hidden_case, hidden)]
    for params in [c.params for c in cases if c.demand != ALIKE]:
        sizes = [n for n in params.values() if isinstance(n, int) and n > 1 and n is not True]
        assert len(set(sizes) - {params.get("dim")}) >= len(sizes) - ("dim" in params), params


@each_exercise
def test_a_case_draws_the_same_inputs_where_its_parameters_came_as_json(exercise):
    probe = exercises()[exercise].probe
    hidden = next(e.hidden for e in lesson_of(exercise).exercises if e.id == exercise)
    for asked in (*probe.cases, *map(hidden_case, hidden)):
        here, there = (probe.make(p) for p in (asked.params, json.loads(json.dumps(asked.params))))
        for name, value in here.items():
            if isinstance(value, torch.Tensor):
                assert torch.equal(value.nan_to_num(), there[name].nan_to_num()), (asked, name)

"""Right modules earn all points however torch was told of their parts."""

import pytest

from tests.course.lesson_runs import all_lessons, lesson_of, names_of
from tests.course.right_forms import RIGHT_FORMS, WRITTEN
from tests.course.right_forms.registered import OTHERWISE, is_module
from utils.checks import check

MODULES = [name for name, forms in WRITTEN.items() if is_module(forms[0])]


def verdict_on(exercise, answer):
    asked = next(e for e in lesson_of(exercise).exercises if e.id == exercise)
    return getattr(check, exercise).verdict(answer, points=asked.points, hidden=asked.hidden)


@pytest.mark.table
@pytest.mark.parametrize("exercise", MODULES)
@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_parts_registered_otherwise_cost_nothing(exercise, otherwise):
    verdict = verdict_on(exercise, otherwise(WRITTEN[exercise][0]))
    assert verdict.passed, verdict.first_failure


def test_every_exercise_that_asks_for_a_module_has_one_with_a_container_and_one_with_two_names():
    asked = {
        name
        for lesson in all_lessons().values()
        for name, answer in names_of(lesson).items()
        if name in RIGHT_FORMS and is_module(answer)
    }
    assert asked == set(MODULES)
    assert all(len(RIGHT_FORMS[name]) == len(WRITTEN[name]) + 2 for name in asked)

"""`make grade` and plain nbgrader give one score for the same notebook, however odd it is."""

import pytest

from grader.course.course import GradingCourse
from grader.grading.pipeline import grade_all
from grader.grading.reading import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.attacks import in_nbgrader
from tests.attacks.attack import Attack
from tests.attacks.malformed import HARMLESS, MALFORMED, PAGES
from tests.attacks.turned import IDS, NO_ANSWER, TURNED
from tests.course.lesson_runs import ROOT, all_lessons


def without(name):
    def change(notebook):
        return notebook | {"cells": [c for c in notebook["cells"] if c.get("id") != name]}

    return change


MISSING = [
    Attack(f"without {name}", "", right=True, score=None, change=without(name))
    for exercise in IDS
    for name in (exercise, f"test_{exercise}")
]
ODD = [*MALFORMED, *PAGES, *HARMLESS, *TURNED, *NO_ANSWER, *MISSING]


@pytest.fixture(scope="module")
def both(tmp_path_factory, one_fork_server):
    """Attack -> the scores of the course's engine, and of nbgrader's."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("course"))
    for name in {attack.lesson for attack in ODD}:
        course.record(all_lessons()[name])
    data = [attack.submission() for attack in ODD]
    with Pool(1, Limits(wall_seconds=60)) as pool:
        items = [Item(x, all_lessons()[a.lesson]) for x, a in zip(data, ODD, strict=True)]
        ours = dict(grade_all(items, pool))
    return {
        attack.name: (ours[n], in_nbgrader.scores(course, attack.lesson, data[n]))
        for n, attack in enumerate(ODD)
    }


@pytest.mark.parametrize("name", [attack.name for attack in ODD])
def test_two_engines_give_an_odd_notebook_one_score(both, name):
    ours, nbgraders = both[name]
    assert nbgraders == ours.scores

"""`make grade` and plain nbgrader give one score for the same notebook, however odd it is."""

import pytest

from grader.course.course import GradingCourse
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.attacks import in_nbgrader
from tests.attacks.malformed import BROKEN, HARMLESS, MALFORMED, PAGES
from tests.attacks.turned import NO_ANSWER, TURNED
from tests.course.lesson_runs import ROOT, all_lessons, run_lesson

# nbgrader's own reader comes before any step of the course's. What it takes for no notebook it
# tells, and gives no score: that differs by design, and no other score may come of it.
REFUSED = (*BROKEN, "cells of strange types")
NOT_TRIED = {"a million empty outputs"}  # that reader looks at each of them, for minutes
COSTS_ONE = {attack.name: name for name, found in NO_ANSWER.items() for attack in found}
ODD = {
    attack.name: attack
    for attack in (
        *MALFORMED,
        *PAGES,
        *HARMLESS,
        *TURNED,
        *(a for x in NO_ANSWER.values() for a in x),
    )
    if attack.name not in NOT_TRIED
}


@pytest.fixture(scope="module")
def both(tmp_path_factory, one_fork_server):
    """Name -> the outcome of the course's engine, and nbgrader's scores."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("course"))
    for name in {attack.lesson for attack in ODD.values()}:
        course.record(all_lessons()[name])
        run_lesson(all_lessons()[name])  # so that no fork loads what the checks need
    data = {name: attack.submission() for name, attack in ODD.items()}
    with Pool(2, Limits(wall_seconds=600)) as pool:
        items = [Item(data[name], all_lessons()[attack.lesson]) for name, attack in ODD.items()]
        ours = dict(grade_all(items, pool))
    return {
        name: (ours[number], in_nbgrader.scores(course, attack.lesson, data[name]))
        for number, (name, attack) in enumerate(ODD.items())
    }


@pytest.mark.parametrize("name", [name for name in ODD if name not in REFUSED])
def test_an_odd_notebook_has_one_score_from_both_engines(both, name):
    ours, nbgraders = both[name]
    assert nbgraders == ours.scores


@pytest.mark.parametrize("name", REFUSED)
def test_what_nbgraders_reader_refuses_has_no_score_from_it(both, name):
    assert both[name][1] is None


@pytest.mark.parametrize("attack", TURNED, ids=lambda attack: attack.name)
def test_a_right_notebook_that_a_key_or_program_changed_has_all_points(both, attack):
    ours, _ = both[attack.name]
    assert ours.scores == {result.exercise: result.points for result in ours.results}


@pytest.mark.parametrize("name", COSTS_ONE)
def test_an_answer_that_is_none_costs_its_own_points_alone(both, name):
    ours, _ = both[name]
    lost = {r.exercise for r in ours.results if r.score < r.points}
    assert lost == {COSTS_ONE[name]}

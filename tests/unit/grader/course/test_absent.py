"""Who of the roster handed in nothing is known, by lesson."""

import json

import pytest

from grader.course.notices import absent
from grader.course.roster_file import ROSTER
from tests.unit.grader.pages.graded_class import LESSON


def load(made, *students):
    path = made.course.folder / ROSTER
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([{"id": student} for student in students]))


def test_whom_the_roster_lists_and_nothing_came_from_is_told_for_the_lessons_that_came(made):
    made.add("ada")
    load(made, "emil", "dora", "ada")
    assert absent(made.course, made.course.book()) == {LESSON: ["dora", "emil"]}


def test_what_is_handed_in_and_waits_to_be_graded_is_not_missed(made):
    made.add("ada")
    load(made, "ada", "dora")
    (made.course.folder / "submitted" / "dora" / LESSON).mkdir(parents=True)
    assert absent(made.course, made.course.book()) == {}


def test_before_anybody_hands_in_nobody_is_missed(made):
    load(made, "ada", "dora")
    assert absent(made.course, made.course.book()) == {}


@pytest.mark.parametrize("text", [None, "{", '["ada"]', '{"id": "ada"}', "1", "\udcff"])
def test_without_a_roster_that_can_be_read_nobody_is_missed(made, text):
    made.add("ada")
    if text is not None:
        load(made)
        (made.course.folder / ROSTER).write_bytes(text.encode(errors="surrogateescape"))
    assert absent(made.course, made.course.book()) == {}

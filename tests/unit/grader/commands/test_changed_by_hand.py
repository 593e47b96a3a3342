"""A gradebook whose file somebody edited: told with the value and its place, by every command."""

import sqlite3
from contextlib import closing

import pytest

from grader.course.course import GradingCourse
from grader.errors import CourseError
from tests.course.lesson_runs import ROOT

ODD = {
    "UPDATE grade SET manual_score = '2,5'": "'2,5' in column manual_score of table grade",
    "UPDATE grade SET auto_score = 9e999": "inf in column auto_score of table grade",
    "UPDATE assignment SET duedate = '4.12.2026'": "'4.12.2026' in column duedate of table assig",
    "UPDATE submitted_assignment SET timestamp = 20261204": "20261204 in column timestamp of tabl",
    "UPDATE student SET id = x'ff'": "b'\\xff' in column id of table student",
}


@pytest.fixture
def edit(made):
    """What changes a gradebook, and then opens it as the next command does."""
    made.add("ada")

    def edited(statement):
        with closing(sqlite3.connect(made.course.folder / "gradebook.db")) as file:
            file.execute(statement)
            file.commit()
        return GradingCourse(ROOT, made.course.folder).students()

    return edited


@pytest.mark.parametrize("statement", ODD)
def test_a_value_that_no_program_writes_is_told_with_its_place(edit, statement):
    with pytest.raises(CourseError) as told:
        edit(statement)
    assert ODD[statement] in str(told.value)
    assert "Correct it by hand" in str(told.value)


def test_numbers_and_times_that_a_person_writes_as_programs_do_are_taken(edit):
    edit("UPDATE grade SET manual_score = '2.5', auto_score = NULL")
    assert edit("UPDATE assignment SET duedate = '2026-12-04 23:59:00'") == ["ada"]


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM alembic_version", "INSERT INTO alembic_version VALUES ('167914646830')"],
    ids=["no version", "two versions"],
)
def test_a_gradebook_of_no_one_version_is_told_as_damaged(edit, statement):
    with pytest.raises(CourseError, match=r"The gradebook is damaged: it names .* versions"):
        edit(statement)

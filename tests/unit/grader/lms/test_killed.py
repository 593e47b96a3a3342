"""A collection that is stopped half way: the next goes on, and takes nothing newer for older."""

from datetime import UTC, datetime

import pytest

from grader.cli import main
from grader.course.hand_in_time import Came
from grader.lms.storing import HandIn, Records
from tests.unit.grader.lms.downloads import DUE, LESSON, Item, notebook, small_course, write_zip

ONCE, AGAIN = notebook("once = 1"), notebook("again = 2")
# Canvas says of both that they are in time: they count as handed in when the lesson is due.
FIRST = {"lovelaceada_11_101_a.ipynb": Item(ONCE), "oneillbjorn_12_102_a.ipynb": Item(ONCE)}
LATER = {"lovelaceada_11_201_a.ipynb": Item(AGAIN)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course in which a collection was stopped when all hand-ins were in their places."""
    monkeypatch.chdir(tmp_path)
    with small_course(tmp_path).gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)
    with monkeypatch.context() as patched:
        patched.setattr(Records, "save", stop)
        assert collect(tmp_path, FIRST) == 130
    assert ada(tmp_path) == ONCE
    return tmp_path


def stop(*_arguments: object) -> None:
    raise KeyboardInterrupt


def collect(folder, items):
    download = write_zip(folder / "all.zip", items)
    return main(["collect", "canvas", str(download), "--roster", "roster.csv"])


def ada(folder):
    return (folder / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes()


def test_of_two_hand_ins_of_one_time_the_newer_counts_though_the_firsts_run_was_killed(folder):
    collect(folder, LATER)
    assert ada(folder) == AGAIN


def test_half_a_line_of_a_killed_run_stops_no_later_one_and_loses_no_other(folder):
    with (folder / "lms" / "canvas" / f"{LESSON}.lines").open("a") as notes:
        notes.write('{"dan')
    collect(folder, LATER)
    assert ada(folder) == AGAIN
    assert set(Records(folder, "canvas", LESSON).entries()) == {"ada", "b,en"}


def test_what_a_killed_run_had_unpacked_is_removed(folder):
    half = folder / ".course" / "unpacking-half"
    half.mkdir(parents=True)
    collect(folder, FIRST)
    assert not half.exists()


def test_what_is_noted_after_half_a_line_is_read_though_that_run_was_killed_too(folder):
    with (folder / "lms" / "canvas" / f"{LESSON}.lines").open("a") as notes:
        notes.write('{"dan')
    time = datetime(2026, 11, 20, tzinfo=UTC)
    dan = HandIn("dan", LESSON, folder / "dan.ipynb", Came(time), (1, 1), "dan_1_1_a.ipynb")
    Records(folder, "canvas", LESSON).note(dan)
    assert Records(folder, "canvas", LESSON).entries()["dan"] == "dan_1_1_a.ipynb"

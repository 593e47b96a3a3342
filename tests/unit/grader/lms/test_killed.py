"""A collection that is stopped half way: the next goes on, and takes nothing newer for older."""

import pytest

from grader.cli import main
from grader.lms import collecting, storing
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
        patched.setattr(collecting, "keep", stop)
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


@pytest.mark.parametrize("when", ["before it is noted", "before it is in its place"])
def test_a_hand_in_whose_run_was_killed_is_collected_by_the_next(folder, monkeypatch, when):
    new = {"mullerdan_14_301_a.ipynb": Item(ONCE)}
    with monkeypatch.context() as patched:
        if when == "before it is noted":
            patched.setattr(storing, "write_private", stop)
        else:
            patched.setattr(storing.Records, "note", stop_after(storing.Records.note))
        assert collect(folder, new) == 130
    assert not (folder / "submitted" / "dan" / LESSON).exists()
    assert collect(folder, new) == 0
    assert set(storing.Records(folder, "canvas", LESSON).known) == {"ada", "b,en", "dan"}
    assert (folder / "submitted" / "dan" / LESSON / f"{LESSON}.ipynb").read_bytes() == ONCE


def stop_after(usual):
    def stopping(*arguments):
        usual(*arguments)
        raise KeyboardInterrupt

    return stopping


def test_what_a_killed_run_had_unpacked_is_removed(folder):
    half = folder / ".course" / "unpacking-half"
    half.mkdir(parents=True)
    collect(folder, FIRST)
    assert not half.exists()

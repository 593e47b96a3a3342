"""Copies of the gradebook before a run writes."""

import sqlite3
import stat
from datetime import UTC, datetime

import pytest

from grader.errors import CourseError
from grader.gradebook import backups
from grader.gradebook.backups import FOLDER, KEPT, back_up
from tests.unit.grader.lms.downloads import small_course


def written(path, value):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
    connection.execute("INSERT INTO t VALUES (?)", (value,))
    connection.commit()
    connection.close()


def values(path):
    connection = sqlite3.connect(path)
    found = [row[0] for row in connection.execute("SELECT x FROM t ORDER BY x")]
    connection.close()
    return found


@pytest.fixture
def book(tmp_path):
    written(tmp_path / "gradebook.db", 0)
    return tmp_path / "gradebook.db"


def test_a_copy_holds_what_the_gradebook_held_and_only_its_owner_reads_it(book, tmp_path):
    copy = back_up(f"sqlite:///{book}", tmp_path)
    written(book, 1)
    assert values(copy) == [0]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


def test_the_last_ten_copies_are_kept(book, tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / ".of-a-killed-run.part").touch()
    for number in range(1, KEPT + 3):
        last = back_up(f"sqlite:///{book}", tmp_path)
        written(book, number)
    left = sorted((tmp_path / FOLDER).iterdir())
    assert len(left) == KEPT
    assert left[-1] == last
    assert [len(values(path)) for path in left] == list(range(3, KEPT + 3))


def test_a_copy_made_after_the_clock_was_set_back_is_the_newest(book, tmp_path, monkeypatch):
    class Ahead(datetime):
        @classmethod
        def now(cls, _zone):
            return datetime(2100, 1, 1, tzinfo=UTC)

    with monkeypatch.context() as patched:
        patched.setattr(backups, "datetime", Ahead)
        for _ in range(KEPT):
            back_up(f"sqlite:///{book}", tmp_path)
    (tmp_path / FOLDER / "gradebook-.db").touch()  # somebody's own
    written(book, 1)
    copy = back_up(f"sqlite:///{book}", tmp_path)
    assert copy == sorted((tmp_path / FOLDER).iterdir())[-1]
    assert values(copy) == [0, 1]


def test_no_copy_is_made_of_a_gradebook_that_is_not_there(tmp_path):
    assert back_up(f"sqlite:///{tmp_path / 'gradebook.db'}", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("state", ["gone", "empty"])
def test_a_lost_gradebook_is_not_replaced_by_a_new_one_while_it_has_copies(tmp_path, state):
    course = small_course(tmp_path)
    course.back_up()
    (tmp_path / "gradebook.db").unlink()
    if state == "empty":
        (tmp_path / "gradebook.db").touch()
    (copy,) = (tmp_path / FOLDER).iterdir()
    with pytest.raises(CourseError, match=rf"gradebook\.db is {state}.*cp '{copy}'"):
        course.students()
    copy.rename(tmp_path / "gradebook.db")
    assert course.students() == []


def test_what_a_lost_gradebook_left_of_a_transaction_is_not_to_be_taken_over_by_its_copy(tmp_path):
    course = small_course(tmp_path)
    course.back_up()
    for end in ("", "-journal"):  # a process that was killed leaves this
        (tmp_path / f"gradebook.db{end}").write_text("")
    with pytest.raises(CourseError, match=rf"\(rm '{tmp_path}/gradebook\.db-journal'; cp "):
        course.students()


def test_a_gradebook_that_another_program_holds_is_told_and_leaves_no_half_copy(
    book, tmp_path, monkeypatch
):
    monkeypatch.setattr("grader.gradebook.snapshots.PATIENCE", 0.05)
    holder = sqlite3.connect(book)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(CourseError, match=r"locked.*nothing was written"):
        back_up(f"sqlite:///{book}", tmp_path)
    holder.close()
    assert list((tmp_path / FOLDER).glob("gradebook-*.db")) == []

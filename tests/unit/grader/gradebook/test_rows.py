"""Rows are copied as they are, into what is empty, and read back."""

from datetime import timedelta

import pytest
from nbgrader.api import Base, Student
from sqlalchemy import Integer, insert, update

from grader.errors import CourseError
from grader.gradebook import rows as module
from grader.gradebook.moving import move
from grader.gradebook.rows import VERSION, content, copy_rows, make_tables, tables, verify_empty
from grader.gradebook.server import connection

STUDENT, HANDED_IN = Student.__table__, Base.metadata.tables["submitted_assignment"]


@pytest.fixture
def book(tmp_path):
    """A gradebook with a student and an extension, and what an empty one would have."""
    with connection(f"sqlite:///{tmp_path}/book.db") as at:
        make_tables(at)
        at.execute(insert(VERSION), {"version_num": "abc"})
        at.execute(insert(STUDENT), {"id": "ada", "last_name": "Lövelace"})
        at.execute(insert(HANDED_IN), {"id": "1", "extension": timedelta(days=-1, seconds=0.5)})
        at.commit()
        yield at


def test_every_row_is_the_same_after_the_copy(book, tmp_path):
    with connection(f"sqlite:///{tmp_path}/other.db") as other:
        counts = copy_rows(book, other)
        assert all(content(book, table) == content(other, table) for table in tables())
    assert {name for name, count in counts.items() if count} == {
        "alembic_version", "student", "submitted_assignment",
    }  # fmt: skip


def test_many_rows_go_in_parts(book, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 2)
    book.execute(insert(STUDENT), [{"id": f"s{n}"} for n in range(6)])
    with connection(f"sqlite:///{tmp_path}/other.db") as other:
        assert copy_rows(book, other)["student"] == 7


def test_a_copy_that_reads_back_otherwise_is_not_kept(book, tmp_path, monkeypatch):
    def lossy(at, table):
        found = content(at, table)
        return found[1:] if at is not book else found

    monkeypatch.setattr(module, "content", lossy)
    with (
        connection(f"sqlite:///{tmp_path}/other.db") as other,
        pytest.raises(CourseError, match="alembic_version are not the same"),
    ):
        copy_rows(book, other)


def test_no_table_counts_its_rows_by_itself_so_that_no_counter_has_to_be_set():
    keys = [column for table in tables() for column in table.primary_key]
    assert keys
    assert not any(isinstance(column.type, Integer) for column in keys)


def test_only_what_is_empty_takes_a_gradebook(book, tmp_path):
    with pytest.raises(CourseError, match="is not empty"):
        verify_empty(book, "the other")
    with pytest.raises(CourseError, match=r"sqlite:///.*book.db is not empty \(student"):
        move(tmp_path / "book.db", f"sqlite:///{tmp_path}/book.db")
    assert move(tmp_path / "book.db", f"sqlite:///{tmp_path}/new.db")["student"] == 1


def test_a_moved_file_is_its_owners_alone(book, tmp_path):
    book.execute(update(STUDENT).values(email="ada@example.org"))
    book.commit()
    move(tmp_path / "book.db", f"sqlite:///{tmp_path}/new.db")
    assert (tmp_path / "new.db").stat().st_mode & 0o077 == 0

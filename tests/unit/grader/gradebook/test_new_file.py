"""A new gradebook in a file: what nbgrader would make, made at once and by one process."""

import os
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import SQLAlchemyError

from grader.gradebook import server
from grader.gradebook.server import open_gradebook


def content(path: Path) -> list[str]:
    """Every table's making, however it is spaced, and every row."""
    with closing(sqlite3.connect(path)) as at:
        return sorted("".join(line.split()) for line in at.iterdump())


def test_a_new_gradebook_is_what_nbgrader_makes_itself(tmp_path, monkeypatch):
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", beside)  # nbgrader starts alembic by its name
    open_gradebook(f"sqlite:///{tmp_path}/ours.db").close()
    Gradebook(f"sqlite:///{tmp_path}/theirs.db").close()
    assert content(tmp_path / "ours.db") == content(tmp_path / "theirs.db")


def test_a_gradebook_is_made_where_alembics_program_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    open_gradebook(f"sqlite:///{tmp_path}/new.db").close()
    assert content(tmp_path / "new.db")


def test_who_is_stopped_while_making_tables_leaves_none(tmp_path, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "newest_version", stopped)
    with pytest.raises(KeyboardInterrupt):
        open_gradebook(f"sqlite:///{tmp_path}/new.db")
    assert content(tmp_path / "new.db") == ["BEGINTRANSACTION;", "COMMIT;"]


def test_four_at_once_make_one_gradebook_and_none_fails(tmp_path):
    url = f"sqlite:///{tmp_path}/new.db"
    with ThreadPoolExecutor(4) as threads:
        for opened in [threads.submit(open_gradebook, url) for _ in range(4)]:
            opened.result().close()
    rows = [line for line in content(tmp_path / "new.db") if "alembic_version" in line]
    assert len(rows) == 2  # its table, and its only row


def test_a_file_that_is_no_database_is_not_written_to(tmp_path):
    path = tmp_path / "grades.db"
    path.write_bytes(b"no database, but long enough for its header to be read as one" * 20)
    before = path.read_bytes()
    with pytest.raises(SQLAlchemyError, match="not a database"):
        open_gradebook(f"sqlite:///{path}")
    assert path.read_bytes() == before

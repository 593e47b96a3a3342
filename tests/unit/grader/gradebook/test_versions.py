"""A gradebook that an earlier nbgrader made: told plainly, and left as it is."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import nbgrader
import pytest

from grader.errors import CourseError
from grader.gradebook.server import open_gradebook

OLDEST = Path(nbgrader.__file__).parent / "tests" / "apps" / "files" / "gradebook.db"  # no version


def from_before(path: Path) -> None:
    shutil.copy(OLDEST, path)


def from_2018(path: Path) -> None:
    from_before(path)
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        file.execute("INSERT INTO alembic_version VALUES ('724cde206c17')")
        file.commit()


def from_2019(path: Path) -> None:
    open_gradebook(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE alembic_version SET version_num = '282d30a0218e'")
        file.commit()


@pytest.mark.parametrize("made", [from_before, from_2018, from_2019])
def test_a_gradebook_of_an_earlier_nbgrader_is_told_what_renews_it_and_not_changed(tmp_path, made):
    path = tmp_path / "gradebook.db"
    made(path)
    before = path.read_bytes()
    with pytest.raises(CourseError, match=r"earlier version than .*nbgrader db upgrade"):
        open_gradebook(f"sqlite:///{path}")
    assert path.read_bytes() == before

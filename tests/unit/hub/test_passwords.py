"""The table of first passwords."""

import sqlite3
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.passwords import FILE, add_passwords, read_passwords, renew_password


def test_without_a_table_nobody_has_one(tmp_path: Path) -> None:
    assert read_passwords(tmp_path / FILE) == {}


def test_everyone_gets_one_and_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / FILE
    assert add_passwords(file, ["ada", "ben", "ada"]) == 2
    first = read_passwords(file)
    assert add_passwords(file, ["cleo", "ben"]) == 1
    assert read_passwords(file).items() > first.items()
    assert read_passwords(file).keys() == {"ada", "ben", "cleo"}


def test_no_two_are_alike_and_each_is_long(tmp_path: Path) -> None:
    add_passwords(tmp_path / FILE, map(str, range(100)))
    found = read_passwords(tmp_path / FILE).values()
    assert len(set(found)) == 100
    assert min(map(len, found)) >= 12


def test_the_table_is_its_owners_alone(tmp_path: Path) -> None:
    add_passwords(tmp_path / FILE, ["ada"])
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_a_table_that_lacks_nobody_is_not_written(tmp_path: Path) -> None:
    add_passwords(tmp_path / FILE, ["ada"])
    before = (tmp_path / FILE).stat().st_ino
    assert add_passwords(tmp_path / FILE, ["ada"]) == 0
    assert (tmp_path / FILE).stat().st_ino == before


def test_who_forgot_the_password_gets_another_first_one_and_others_keep_theirs(
    tmp_path: Path,
) -> None:
    file, users = tmp_path / FILE, tmp_path / "hub.sqlite"
    add_passwords(file, ["ada", "ben"])
    before = read_passwords(file)
    found = renew_password(file, users, "ada")  # before the hub has ever run
    assert read_passwords(file) == before | {"ada": found}
    assert found != before["ada"]
    with sqlite3.connect(users) as database:
        database.execute("CREATE TABLE users_info (username, password)")
        rows = [("ada", "chosen"), ("ben", "chosen")]
        database.executemany("INSERT INTO users_info VALUES (?, ?)", rows)
    renew_password(file, users, "ada")
    with sqlite3.connect(users) as database:
        assert database.execute("SELECT username FROM users_info").fetchall() == [("ben",)]
    assert file.stat().st_mode & 0o777 == 0o600


def test_of_a_name_that_nobody_has_the_nearest_is_told(tmp_path: Path) -> None:
    add_passwords(tmp_path / FILE, ["ada"])
    with pytest.raises(CourseError, match=r"Did you mean ada\?"):
        renew_password(tmp_path / FILE, tmp_path / "hub.sqlite", "adda")
    assert not (tmp_path / "hub.sqlite").exists()

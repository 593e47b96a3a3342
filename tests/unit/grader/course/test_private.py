"""Folders with names or grades are closed to other users of the machine."""

import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.course.private import (
    FOLDERS,
    keep_private,
    private_folder,
    write_private,
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_and_the_gradebook_are_closed_and_all_else_stays(tmp_path):
    for name in (*FOLDERS, "notebooks"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "gradebook.db").touch(mode=0o644)
    keep_private(tmp_path)
    assert {mode(tmp_path / name) for name in FOLDERS} == {0o700}
    assert mode(tmp_path / "gradebook.db") == 0o600
    assert mode(tmp_path / "notebooks") == 0o755


def test_a_link_in_a_folders_place_is_left_alone(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "submitted").symlink_to(tmp_path / "elsewhere")
    keep_private(tmp_path)
    assert mode(tmp_path / "elsewhere") == 0o755


def test_a_new_folder_and_a_new_file_are_closed_from_the_start(tmp_path):
    assert mode(private_folder(tmp_path / "lms" / "canvas")) == 0o700
    assert mode(tmp_path / "lms") == 0o700
    write_private(tmp_path / "out.csv", "a\r\nb")
    assert mode(tmp_path / "out.csv") == 0o600
    assert (tmp_path / "out.csv").read_bytes() == b"a\r\nb"


@pytest.mark.parametrize("fails", ["a folder", "a move"])
def test_of_a_file_that_cannot_be_written_nothing_is_left_beside_it(tmp_path, monkeypatch, fails):
    place = tmp_path / "grades.csv"
    if fails == "a folder":
        place.mkdir()
    else:
        monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(28, "full", str(place))))
    before = set(tmp_path.iterdir())
    with pytest.raises(OSError) as told:
        write_private(place, b"names and grades")
    assert told.value.filename == str(place)
    assert set(tmp_path.iterdir()) == before

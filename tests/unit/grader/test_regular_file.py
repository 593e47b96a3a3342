"""What a student handed in is read as plain files, whatever is moved about meanwhile."""

import os
from pathlib import Path

import pytest

from grader import regular_file
from grader.regular_file import copy_plain, read_plain

NAME = "02_attention.ipynb"


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "handed_in"
    folder.mkdir()
    (folder / NAME).write_text("their own")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / NAME).write_text("the solution")
    return folder


def test_a_plain_file_in_a_folder_is_read_up_to_a_size(handed_in: Path):
    assert read_plain(handed_in / NAME, 100) == b"their own"
    assert read_plain(handed_in / NAME, 5) == b"their"
    assert read_plain(handed_in / "missing", 5) is None
    assert read_plain(handed_in / "missing" / NAME, 5) is None


def test_a_link_in_the_folder_or_in_its_place_is_not_followed(handed_in: Path):
    (handed_in / "link").symlink_to(handed_in.parent / "source" / NAME)
    (handed_in.parent / "linked").symlink_to(handed_in.parent / "source")
    assert read_plain(handed_in / "link", 100) is None
    assert read_plain(handed_in.parent / "linked" / NAME, 100) is None


def test_a_folder_that_becomes_a_link_before_its_file_is_opened_leads_nowhere(
    handed_in: Path, monkeypatch: pytest.MonkeyPatch
):
    opens = os.open

    def swapping(path, *flags, **named):
        if Path(path).name == NAME and not handed_in.is_symlink():
            handed_in.rename(handed_in.with_name("moved"))
            handed_in.symlink_to("source")
        return opens(path, *flags, **named)

    monkeypatch.setattr(os, "open", swapping)
    assert read_plain(handed_in / NAME, 100) == b"their own"
    assert handed_in.is_symlink()


def test_a_plain_file_is_copied_in_pieces_and_a_larger_one_not_at_all(handed_in: Path, monkeypatch):
    monkeypatch.setattr(regular_file, "PIECE", 4)
    to = handed_in.parent / "copy"
    assert copy_plain(handed_in / NAME, to, 8) == len("their own")
    assert not to.exists()
    assert copy_plain(handed_in / NAME, to, 9) == len("their own")
    assert to.read_text() == "their own"


def test_what_is_no_plain_file_is_not_copied(handed_in: Path):
    (handed_in / "link").symlink_to(handed_in.parent / "source" / NAME)
    (handed_in.parent / "linked").symlink_to(handed_in.parent / "source")
    os.mkfifo(handed_in / "pipe")
    for name in ("link", "../linked/" + NAME, "pipe", "missing", "."):
        assert copy_plain(handed_in / name, handed_in.parent / "copy", 100) is None
    assert not (handed_in.parent / "copy").exists()

"""What a student handed in is read as plain files, whatever is moved about meanwhile."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import regular_file
from grader.regular_file import Unreadable, copy_plain, read_plain
from tests.unit.grader.odd_files import as_ordinary_user, open_to_all, opening_fails

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


def copied_beside(path: Path, most: int) -> int | None:
    return copy_plain(path, path.parents[1] / "copy", most)


FAILURES = [errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.EMFILE]


@pytest.mark.parametrize("at", [NAME, "handed_in"], ids=["the file", "its folder"])
@pytest.mark.parametrize("number", FAILURES, ids=errno.errorcode.get)
def test_what_is_there_and_cannot_be_opened_is_a_failure_and_never_a_missing_file(
    handed_in: Path, monkeypatch: pytest.MonkeyPatch, number: int, at: str
):
    opening_fails(monkeypatch, at, number)
    for work in (read_plain, copied_beside):
        with pytest.raises(Unreadable) as told:
            work(handed_in / NAME, 100)
        assert (told.value.errno, told.value.filename) == (number, str(handed_in / NAME))
    assert not (handed_in.parent / "copy").exists()


def test_a_disk_that_fails_in_the_middle_is_a_failure(handed_in: Path, monkeypatch):
    def failing(*_arguments: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", failing)
    for work in (read_plain, copied_beside):
        with pytest.raises(
            Unreadable, match=r"ipynb cannot be read \(Input/output error\)\. Check"
        ):
            work(handed_in / NAME, 100)


def test_a_failure_says_which_file_why_and_what_helps(handed_in: Path, monkeypatch):
    opening_fails(monkeypatch, NAME, errno.EACCES)
    with pytest.raises(Unreadable) as told:
        read_plain(handed_in / NAME, 100)
    assert str(told.value) == (
        f"{handed_in / NAME} cannot be read (Permission denied). Give yourself the right to read it"
    )


def test_a_copy_that_cannot_be_written_is_no_fault_of_what_is_read(handed_in: Path):
    with pytest.raises(OSError, match="nowhere") as told:
        copy_plain(handed_in / NAME, handed_in / "nowhere" / "copy", 100)
    assert not isinstance(told.value, Unreadable)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe", "a folder"])
def test_what_is_no_regular_file_is_none_whether_or_not_it_may_be_opened(
    handed_in: Path, monkeypatch, make: Callable[[Path], None]
):
    make(handed_in / "odd")
    opening_fails(monkeypatch, "odd", errno.EACCES)
    assert read_plain(handed_in / "odd", 100) is None


def test_a_socket_is_none(handed_in: Path, monkeypatch):
    monkeypatch.chdir(handed_in)  # the name of a socket is at most 100 characters long
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        assert read_plain(handed_in / "socket", 100) is None


@pytest.mark.parametrize("closed", ["the file", "its folder"])
def test_an_ordinary_users_file_without_rights_is_a_failure(closed: str):
    with open_to_all() as place:

        def read() -> None:
            file = place / "folder" / NAME
            file.parent.mkdir()
            file.write_text("their own")
            (file if closed == "the file" else file.parent).chmod(0)
            try:
                found = repr(read_plain(file, 100))
            except OSError as error:
                found = str(error)
            file.parent.chmod(0o700)
            (place / "found").write_text(found)

        as_ordinary_user(read)
        assert "cannot be read (Permission denied)" in (place / "found").read_text()

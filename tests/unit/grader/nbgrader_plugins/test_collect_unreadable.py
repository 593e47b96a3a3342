"""Collection of what cannot be read: told, and never recorded as an empty hand-in."""

import errno
import os
from pathlib import Path

import pytest

from tests.unit.grader.nbgrader_plugins.test_collect import (
    EARLY,
    FILE,
    LATE,
    LESSON,
    collected,
    hand_in,
    handed_in,
    inbound,
    told,
    work,
)
from tests.unit.grader.odd_files import as_ordinary_user, open_to_all, opening_fails

__all__ = ["inbound"]  # a fixture
REASON = (
    "it cannot be read (Permission denied), so nothing of this hand-in was collected. Give "
    "yourself the right to read it, then run the same command"
)


def place(inbound: Path, student: str) -> Path:
    return inbound.parents[2] / "submitted" / student / LESSON


@pytest.mark.parametrize("name", [FILE, "timestamp.txt", "submission_secret.txt"])
def test_a_hand_in_of_which_grading_cannot_read_a_file_is_told_and_not_collected(
    inbound: Path, monkeypatch, name: str
):
    folder = hand_in(inbound, "zed")
    opening_fails(monkeypatch, name, below="zed+")
    assert told(collected(inbound)) == [f"{name} in {folder.name}: {REASON}"]
    assert not place(inbound, "zed").exists()
    assert work(inbound, "ada") == "ada"


def test_no_half_of_it_stays_beside(inbound: Path, monkeypatch):
    hand_in(inbound, "zed")
    opening_fails(monkeypatch, FILE, below="zed+")
    collected(inbound)
    parent = place(inbound, "zed").parent
    assert not parent.exists() or list(parent.iterdir()) == []


def test_once_it_can_be_read_the_same_command_collects_it(inbound: Path):
    hand_in(inbound, "zed")
    with pytest.MonkeyPatch.context() as patched:
        opening_fails(patched, FILE, errno.ESTALE, below="zed+")
        (text,) = told(collected(inbound))
    assert "it cannot be read (Stale file handle)" in text
    assert "Check the disk, or the network folder, that it is on, then run" in text
    assert told(collected(inbound)) == []
    assert work(inbound, "zed") == "zed"


def test_what_was_collected_before_stays_where_a_newer_one_cannot_be_read(
    inbound: Path, monkeypatch
):
    collected(inbound)
    hand_in(inbound, "ada", LATE, "newer")
    opening_fails(monkeypatch, FILE, below=LATE)
    (text,) = told(collected(inbound))
    assert REASON in text
    assert work(inbound, "ada") == "ada"


def test_another_file_is_not_even_opened(inbound: Path, monkeypatch):
    (hand_in(inbound, "zed") / "notes.txt").write_text("private")
    opening_fails(monkeypatch, "notes.txt")
    (text,) = told(collected(inbound))
    assert text.startswith("notes.txt in zed+")
    assert text.endswith(": grading does not read it")
    assert handed_in(inbound, "zed").keys() == {FILE, "timestamp.txt", "submission_secret.txt"}


def test_where_what_was_collected_before_cannot_be_read_it_stays_and_is_told(
    inbound: Path, monkeypatch
):
    collected(inbound)
    hand_in(inbound, "ada", LATE, "newer")
    opening_fails(monkeypatch, "timestamp.txt", below="submitted/ada")
    (text,) = told(collected(inbound))
    assert "what was collected before, in submitted/, cannot be read (Permission denied)" in text
    assert work(inbound, "ada") == "ada"


@pytest.mark.parametrize("closed", [".", FILE], ids=["its folder", "its notebook"])
def test_as_an_ordinary_user_too(closed: str):
    with open_to_all() as home:

        def collect_it() -> None:
            folder = home / "exchange" / "c" / "inbound"
            folder.mkdir(parents=True)
            hand_in(folder, "ada")
            (hand_in(folder, "zed", EARLY) / closed).chmod(0)
            os.environ["HOME"] = str(home)
            lines = told(collected(folder))
            (home / "found").write_text("\n".join([*lines, work(folder, "ada")]))
            (folder / f"zed+{LESSON}+{EARLY}+x").chmod(0o700)

        as_ordinary_user(collect_it)
        reason, ada = (home / "found").read_text().splitlines()
        assert "it cannot be read (Permission denied)" in reason
        assert ada == "ada"
        assert not (home / "submitted" / "zed" / LESSON).exists()

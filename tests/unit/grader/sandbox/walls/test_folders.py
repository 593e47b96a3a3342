"""Private folders on disk go with their supervisor, and those of a killed one with the next."""

import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.sandbox.walls.folders import NEW_SECONDS, PREFIX, Folder, Folders
from grader.sandbox.walls.private_folder import remove
from tests.unit.grader.odd_files import ORDINARY_USER

OLD = time.time() - 2 * NEW_SECONDS


def in_another_process(action: Callable[[], object]) -> None:
    """Run an action in a process that then ends at once, as if it had been killed."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def left_in(place: Path) -> Path:
    """A folder with a file in it, whose maker is gone."""

    def leave() -> None:
        (new_in(place).path / "file").write_text("x")

    in_another_process(leave)
    (left,) = place.iterdir()
    os.utime(left, (OLD, OLD))
    return left


def new_in(place: Path) -> Folder:
    return Folders(place).new(os.geteuid(), os.getegid())


def test_two_tasks_have_a_folder_each_and_it_goes_when_it_is_removed(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    one, two = (folders.new(os.geteuid(), os.getegid()) for _ in range(2))
    assert one.path != two.path
    assert stat.S_IMODE(one.path.stat().st_mode) == 0o700
    (one.path / "file").write_text("x")
    one.remove()
    assert list(tmp_path.iterdir()) == [two.path]


@pytest.mark.parametrize("when", [OLD, 4e9], ids=["long ago", "in the future, by this clock"])
def test_what_a_killed_supervisor_left_is_removed_by_the_next(tmp_path: Path, when: float) -> None:
    left = left_in(tmp_path)
    os.utime(left, (when, when))
    new_in(tmp_path)
    assert not left.exists()


def test_what_a_living_supervisor_has_stays(tmp_path: Path) -> None:
    kept = new_in(tmp_path)
    os.utime(kept.path, (OLD, OLD))
    new_in(tmp_path)
    assert kept.path.exists()


def test_what_was_made_a_moment_ago_stays_as_it_may_not_be_locked_yet(tmp_path: Path) -> None:
    left = left_in(tmp_path)
    os.utime(left)
    new_in(tmp_path)
    assert left.exists()


def test_a_link_that_is_named_like_one_is_not_followed(tmp_path: Path) -> None:
    outside, place = tmp_path / "outside", tmp_path / "place"
    for folder in (outside, place):
        folder.mkdir()
    (outside / "kept").write_text("kept")
    os.utime(outside, (OLD, OLD))
    (place / f"{PREFIX}link").symlink_to(outside)
    new_in(place)
    assert (outside / "kept").exists()


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder in which an ordinary user may write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_what_a_link_in_a_locked_folder_leads_to_keeps_its_rights(open_to_all: Path) -> None:
    outside, locked = open_to_all / "outside", open_to_all / "task" / "locked"

    def lock_and_remove() -> None:
        if os.geteuid() == 0:  # root needs no rights to remove
            os.setuid(ORDINARY_USER)
        outside.mkdir(mode=0o755)
        locked.mkdir(parents=True)
        (locked / "link").symlink_to(outside)
        locked.chmod(0o500)
        remove(locked.parent)

    in_another_process(lock_and_remove)
    assert not locked.exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755

"""Submit to a class's exchange: whole or not at all, and only for those who grade to read."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeSubmit

from utils.lab.lessons import misplaced, read_lesson

OTHERS = stat.S_IRWXO
UNREADABLE = 0o027  # a umask: the group reads, others do nothing


class Submit(ExchangeSubmit):
    """Put a hand-in into place in one step, closed to others where its group lets graders in.

    nbgrader copies file by file, so that a grader who collects meanwhile takes half of it, and
    leaves each hand-in open to everyone who knows its folder's name. The folder in which it lies
    hands its group on, so others' rights are not needed when that group is the graders'.
    """

    inbound_path: str  # nbgrader's: the folder of all hand-ins

    def init_src(self) -> None:
        """Find what is handed in, and refuse it without the notebook that is graded."""
        super().init_src()
        name, release = self.coursedir.assignment_id, Path(self.root, self.coursedir.course_id)
        released = release / "outbound" / name / f"{name}.ipynb"
        what_to_do = released.is_file() and misplaced(Path(self.src_path), read_lesson(released))
        if what_to_do:
            self.fail(
                f"Nothing was handed in: grading reads {name}.ipynb, and your folder {name} has no "
                f"such file. {what_to_do} Then submit again."
            )

    def init_dest(self) -> None:
        """Find where the hand-in goes, and whether its group is another than the student's."""
        super().init_dest()
        inbound = Path(self.inbound_path).stat()
        self.is_closed = bool(inbound.st_mode & stat.S_ISGID) and not _is_mine(inbound.st_gid)

    def copy_files(self) -> None:
        """Copy the lesson beside where it goes, then move it there."""
        place = Path(self.inbound_path)
        with _folder_apart(place) as apart, _readable_by(others=not self.is_closed):
            self.inbound_path = str(apart)
            super().copy_files()
            sent = apart / self.assignment_filename
            if self.is_closed:
                sent.chmod(stat.S_IMODE(sent.stat().st_mode) & ~OTHERS)
            sent.rename(place / sent.name)
        self.inbound_path = str(place)

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a folder; of a hand-in, also what is added to it later has the graders' group."""
        super().do_copy(src, dest, log)
        if self.is_closed and Path(dest).parent == Path(self.inbound_path):
            _hand_on_group(Path(dest))

    def set_perms(self, dest: str, fileperms: int, dirperms: int) -> None:
        """Set the rights of the files and folders of a hand-in."""
        kept = ~OTHERS if self.is_closed else ~0
        super().set_perms(dest, fileperms & kept, dirperms & kept)


def _is_mine(group: int) -> bool:
    return group in (os.getegid(), *os.getgroups())


@contextmanager
def _folder_apart(place: Path) -> Iterator[Path]:
    """Make a folder that collecting overlooks, and remove it in the end."""
    apart = place / f".{secrets.token_hex()}"
    apart.mkdir()
    try:
        yield apart
    finally:
        shutil.rmtree(apart, ignore_errors=True)


@contextmanager
def _readable_by(*, others: bool) -> Iterator[None]:
    """Make files that others may read, or may not."""
    before = os.umask(UNREADABLE)
    if others:
        os.umask(before)
    try:
        yield
    finally:
        os.umask(before)


def _hand_on_group(folder: Path) -> None:
    """Move a folder's content into a new one, which hands its group on; a copied one does not."""
    fresh = folder.with_name(f".{secrets.token_hex()}")
    fresh.mkdir()
    for path in folder.iterdir():
        path.rename(fresh / path.name)
    folder.rmdir()
    fresh.rename(folder)

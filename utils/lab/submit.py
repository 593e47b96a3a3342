"""Submit to a class's exchange, where only those who grade can read what is handed in."""

import os
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeSubmit

OTHERS = stat.S_IRWXO
UNREADABLE = 0o027  # a umask: the group reads, others do nothing


class Submit(ExchangeSubmit):
    """Close a hand-in to others where its group lets the graders in.

    nbgrader leaves each hand-in open to everyone who knows its folder's name. The folder in which
    it lies hands its group on, so others' rights are not needed when that group is the graders'.
    """

    def init_dest(self) -> None:
        """Find where the hand-in goes, and whether its group is another than the student's."""
        super().init_dest()
        inbound = Path(self.inbound_path).stat()
        self.is_closed = bool(inbound.st_mode & stat.S_ISGID) and not _is_mine(inbound.st_gid)

    def copy_files(self) -> None:
        """Copy the lesson; what is on its way is closed too."""
        before = os.umask(UNREADABLE)
        if not self.is_closed:
            os.umask(before)
        try:
            super().copy_files()
        finally:
            os.umask(before)
        if self.is_closed:
            _close(Path(self.inbound_path, self.assignment_filename))

    def set_perms(self, dest: str, fileperms: int, dirperms: int) -> None:
        """Set the rights of the files and folders of a hand-in."""
        kept = ~OTHERS if self.is_closed else ~0
        super().set_perms(dest, fileperms & kept, dirperms & kept)


def _is_mine(group: int) -> bool:
    return group in (os.getegid(), *os.getgroups())


def _close(folder: Path) -> None:
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~OTHERS)

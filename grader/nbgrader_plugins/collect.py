"""Collection from the exchange, from formgrader too: what is odd is left out and told.

Students own the folders that they hand in. nbgrader follows links in them, stops for all at the
first that it cannot copy, and lets a folder that names another student take that student's place.
"""

import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import ExchangeCollect

from grader.course.safe_text import line
from grader.course.time_stamp import LONGEST, as_time
from grader.regular_file import read_plain

try:
    import pwd
except ImportError:  # Windows, which has no exchange
    pwd = None  # type: ignore[assignment]

MOST_BYTES: Final = 32 << 20  # of one file
MOST_FILES: Final = 50
STAMP: Final = "timestamp.txt"


class Collect(ExchangeCollect):
    """Take plain files of each student's newest hand-in.

    Attributes:
        left_out: a line for each hand-in that was not collected, with the reason.

    """

    left_out: list[str]

    def init_src(self) -> None:
        """Find the hand-ins that may be collected, each student's newest."""
        self.left_out = []
        inbound = Path(self.root, self.coursedir.course_id, "inbound")
        if not inbound.is_dir():
            self.fail(f"Course not found: {inbound}")
        self.inbound_path = str(inbound)
        newest: dict[str, dict[str, Any]] = {}
        due = self._due()
        for record in sorted(self._records(inbound), key=lambda record: record["timestamp"]):
            known = newest.get(record["username"])
            if known is None or due is None or record["timestamp"] <= due:
                newest[record["username"]] = record
        self.src_records = list(newest.values())

    def _due(self) -> datetime | None:
        """Return after when hand-ins do not count if there are earlier ones; None for never."""
        if not self.before_duedate:
            return None
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            try:
                due: datetime | None = gradebook.find_assignment(
                    self.coursedir.assignment_id
                ).duedate
            except MissingEntry:
                return None
        return due

    def _records(self, inbound: Path) -> Iterator[dict[str, Any]]:
        chosen = self.coursedir.student_id or "*"
        for path in sorted(inbound.glob(f"*+{self.coursedir.assignment_id}+*")):
            student, lesson, *rest = [*path.name.rsplit("+", 3), ""]
            told = as_time(rest[0])
            if lesson != self.coursedir.assignment_id or chosen not in ("*", student):
                continue
            if reason := _fault(path, student, told) or self._fault_of_owner(path, student):
                self.left_out.append(f"{line(path.name)}: {reason}")
            elif told is not None:
                when = told.replace(tzinfo=None)
                yield {"username": student, "filename": path.name, "timestamp": when}

    def _fault_of_owner(self, path: Path, student: str) -> str:
        """Return what is wrong with who owns a hand-in; whoever grades may put one there."""
        if not self.check_owner or pwd is None or self._is_own(path):
            return ""
        owner = _owner(path)
        if owner == student:
            return ""
        return (
            f"it says it is from {line(student)}, but {line(owner)} owns it. If students' names "
            "are not those of this machine's users, set c.ExchangeCollect.check_owner = False"
        )

    def _is_own(self, path: Path) -> bool:
        return path.lstat().st_uid == os.geteuid()

    def copy_files(self) -> None:
        """Copy each hand-in that is newer than what is there; none stops another."""
        for record in self.src_records:
            try:
                self._collect(record)
            except OSError as error:
                self.left_out.append(f"{line(record['filename'])}: it cannot be copied ({error})")

    def _collect(self, record: dict[str, Any]) -> None:
        student, lesson = record["username"], self.coursedir.assignment_id
        place = Path(
            self.coursedir.format_path(self.coursedir.submitted_directory, student, lesson)
        )
        if place.is_symlink() or place.parent.is_symlink():
            raise OSError("the student's folder in submitted/ is a link")
        if place.is_dir() and not self._is_newer(record, place):
            return
        fresh = place.parent / f".{lesson}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        files = _plain_files(Path(self.inbound_path) / record["filename"])
        told = files.get(STAMP, b"").decode(errors="replace").strip()
        if as_time(told) is None:
            files[STAMP] = f"{record['timestamp']:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        for name, content in files.items():
            (fresh / name).write_bytes(content)
        shutil.rmtree(place, ignore_errors=True)
        fresh.replace(place)

    def _is_newer(self, record: dict[str, Any], place: Path) -> bool:
        text = (read_plain(place / STAMP, 4 * LONGEST) or b"").decode(errors="replace").strip()
        there = as_time(text)
        if there is None:
            return bool(self.update)
        before = there.replace(tzinfo=None)
        newer = self.update and record["timestamp"] > before
        return bool(newer or (self.before_duedate and record["timestamp"] != before))


def _fault(path: Path, student: str, told: datetime | None) -> str:
    if told is None:
        return "its name holds no time"
    if path.is_symlink() or not path.is_dir():
        return "it is a link or no folder"
    if not student.strip() or student in (".", "..") or line(student) != student:
        return "its name holds no student's name"
    return ""


def _owner(path: Path) -> str:
    """Return who owns a folder; what has become a link since is owned by whoever made that."""
    uid = path.lstat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _plain_files(folder: Path) -> dict[str, bytes]:
    """Return the plain files of a hand-in, less those that are too large; links are no files."""
    names = sorted(path.name for path in folder.iterdir())[:MOST_FILES]
    read = {name: read_plain(folder / name, MOST_BYTES + 1) for name in names}
    return {name: data for name, data in read.items() if data and len(data) <= MOST_BYTES}

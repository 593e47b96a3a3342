"""Collection from the exchange, from formgrader too: what is odd is left out and told.

Students own the folders that they hand in. nbgrader follows links in them, stops for all at the
first that it cannot copy, and lets a folder that names another student take that student's place.
"""

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import ExchangeCollect

from grader.course.beside import BOTH, SECRET, STAMP
from grader.course.hand_in_files import (
    BESIDE,
    MOST_BYTES,
    NOT_READ,
    LeftOut,
    fault,
    note_unread,
    unread,
)
from grader.course.hand_in_time import as_time, stamp
from grader.course.roster_file import aliases, removed
from grader.course.safe_text import line
from grader.notebook_file import ENDING, notebook_in
from grader.regular_file import Unreadable, copy_plain, names_in, read_plain

try:
    import pwd
except ImportError:  # Windows, which has no exchange
    pwd = None  # type: ignore[assignment]

NEW_SECONDS: Final = 60.0  # a hand-in without a secret that changed since may be on its way
AHEAD: Final = timedelta(days=1)  # that clocks may differ: a later time was written by a wrong one
BEFORE: Final = "what was collected before, in submitted/,"


class Collect(ExchangeCollect):
    """Take plain files of each student's newest hand-in.

    Attributes:
        left_out: what was not collected, with the reason.

    """

    left_out: list[LeftOut]
    _sent: dict[str, list[dict[str, Any]]]  # by student, from older to newer

    def init_src(self) -> None:
        """Find the hand-ins that may be collected, each student's newest."""
        self.left_out = []
        inbound = Path(self.root, self.coursedir.course_id, "inbound")
        if not inbound.is_dir():
            self.fail(f"Course not found: {inbound}")
        self.inbound_path = str(inbound)
        newest: dict[str, dict[str, Any]] = {}
        self._sent = defaultdict(list)
        due = self._due()
        folder = Path(self.coursedir.root)
        own, gone = aliases(folder), removed(folder)
        for record in sorted(self._records(inbound), key=lambda found: _order(found["timestamp"])):
            record["username"] = own.get(record["username"], record["username"])
            if record["username"] in gone:
                self._leave_out(inbound / record["filename"], "who handed it in left the class")
                continue
            self._sent[record["username"]].append(record)
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
            if reason := self._fault(path, student, told):
                self._leave_out(path, reason)
            elif told is not None:
                when = told.replace(tzinfo=None)
                yield {"username": student, "filename": path.name, "timestamp": when}

    def _fault(self, path: Path, student: str, told: datetime | None) -> str:
        """Return why a hand-in is not taken; its owner may move it away at any moment."""
        try:
            return _fault(path, student, told) or self._fault_of_owner(path, student)
        except OSError as error:
            return f"it cannot be read ({error.strerror})"

    def _leave_out(self, path: Path, reason: str, file: str = "") -> None:
        """Note a hand-in, or a file of it, that is not taken; what is gone needs no word."""
        try:
            owner = path.lstat().st_uid
        except FileNotFoundError:
            return
        except OSError:
            owner = -1
        what = f"{line(file)} in {line(path.name)}" if file else line(path.name)
        self.left_out.append(LeftOut(what, reason, owner))

    def _fault_of_owner(self, path: Path, student: str) -> str:
        """Return what is wrong with who owns a hand-in; whoever grades may put one there."""
        if not self.check_owner or pwd is None or self._is_own(path):
            return ""
        owner = _owner(path)
        if owner == student:
            return ""
        return (
            f"{line(owner)} owns it, and its name says another student's. If students' names are "
            "not those of this machine's users, set c.ExchangeCollect.check_owner = False"
        )

    def _is_own(self, path: Path) -> bool:
        return path.lstat().st_uid == os.geteuid()

    def copy_files(self) -> None:
        """Copy each hand-in that is newer than what is there; none stops another."""
        for record in self.src_records:
            path = Path(self.inbound_path) / record["filename"]
            try:
                self._collect(record)
            except Unreadable as error:
                name = Path(error.filename).name
                self._leave_out(path, _unread(error), "" if name == path.name else name)
            except OSError as error:
                self._leave_out(path, f"it cannot be copied ({error.strerror or error})")

    def _collect(self, record: dict[str, Any]) -> None:
        student, lesson = record["username"], self.coursedir.assignment_id
        place = Path(
            self.coursedir.format_path(self.coursedir.submitted_directory, student, lesson)
        )
        if place.is_symlink() or place.parent.is_symlink():
            raise OSError("the student's folder in submitted/ is a link")
        if place.is_dir() and not self._is_newer(record, place):
            return
        fresh, old = (place.parent / f".{lesson}.{end}" for end in ("new", "old"))
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        fresh.mkdir(parents=True)
        try:
            others = self._copy(Path(self.inbound_path) / record["filename"], fresh)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        self._set_time(record, fresh, place)
        if place.is_dir():  # never half of it: somebody may read there, or stop this
            place.replace(old)
        fresh.replace(place)
        shutil.rmtree(old, ignore_errors=True)
        note_unread(Path(self.coursedir.root), student, lesson, others)

    def _set_time(self, record: dict[str, Any], fresh: Path, place: Path) -> None:
        """Give a hand-in the time at which equal work came first, here or in another way.

        Work that somebody laid there without a time has none, and stays on time.
        """
        lesson, own = self.coursedir.assignment_id, as_time(stamp(fresh))
        work, there = _work(fresh, lesson), stamp(place)
        is_there = place.is_dir() and _work(place, lesson) == work
        if is_there and not there:
            (fresh / STAMP).unlink(missing_ok=True)
            return
        sent = [x for x in self._sent[record["username"]] if x is not record]
        same = [x for x in sent if _work(Path(self.inbound_path, x["filename"]), lesson) == work]
        times = [own or record["timestamp"].replace(tzinfo=UTC)]
        times += [x["timestamp"].replace(tzinfo=UTC) for x in same]
        times += filter(None, [as_time(there) if is_there else None])
        if min(times) != own:
            (fresh / STAMP).write_text(f"{min(times):%Y-%m-%d %H:%M:%S.%f} UTC")

    def _copy(self, path: Path, to: Path) -> list[str]:
        """Copy what grading reads of a hand-in, and tell all else; return the names of that.

        Raises:
            Unreadable: without it a hand-in would count as another.

        """
        names = names_in(path)
        notebook = notebook_in(path, names, self.coursedir.assignment_id)
        targets = {name: name for name in BESIDE} | {
            notebook: f"{self.coursedir.assignment_id}{ENDING}"
        }
        for name in [name for name in names if name in targets]:
            if reason := fault(copy_plain(path / name, to / targets[name], MOST_BYTES)):
                self._leave_out(path, reason, name)
        others = _others(path, self.coursedir.assignment_id)
        for name in others:
            self._leave_out(path, NOT_READ, name)
        return others

    def _is_newer(self, record: dict[str, Any], place: Path) -> bool:
        try:
            text, before = stamp(place), _content(place, self.coursedir.assignment_id)
        except Unreadable as error:
            raise OSError(f"{BEFORE} cannot be read ({error.strerror}). {error.helps}") from None
        told = as_time(text)
        if bool(told) == bool(text):  # collected already; its time may be that of an earlier one
            path = Path(self.inbound_path, record["filename"])
            lesson = self.coursedir.assignment_id
            others = unread(Path(self.coursedir.root), record["username"], lesson)
            if _content(path, lesson) == before and _others(path, lesson) == others:
                return False
        if told is None:
            return bool(self.update)
        there = told.replace(tzinfo=None)
        newer = self.update and _order(record["timestamp"]) > _order(there)
        return bool(newer or (self.before_duedate and record["timestamp"] != there))


def _work(folder: Path, lesson: str) -> list[bytes | None]:
    """Return what is graded of a hand-in."""
    beside = [name for name in BESIDE if name not in BOTH]
    names = [notebook_in(folder, names_in(folder), lesson), *beside]
    return [read_plain(folder / name, MOST_BYTES) for name in names]


def _others(folder: Path, lesson: str) -> list[str]:
    """Return the names of what is in a hand-in and not read by grading."""
    names = names_in(folder)
    return [name for name in names if name not in (*BESIDE, notebook_in(folder, names, lesson))]


def _content(folder: Path, lesson: str) -> list[bytes | None]:
    """Return what tells a hand-in from others: its work, and its secret."""
    return [*_work(folder, lesson), read_plain(folder / SECRET, MOST_BYTES)]


def _fault(path: Path, student: str, told: datetime | None) -> str:
    if told is None:
        return "its name holds no time"
    if path.is_symlink() or not path.is_dir():
        return "it is a link or no folder"
    if not student.strip() or student in (".", "..") or line(student) != student:
        return "its name holds no student's name"
    if _is_on_its_way(path):
        return "it is being handed in right now: run the same command in a minute"
    return ""


def _is_on_its_way(path: Path) -> bool:
    """Return whether a hand-in may not be whole yet: nbgrader copies it file by file.

    What is collected in part would stay so, for its time, by its name, never changes.
    """
    is_new = abs(time.time() - path.stat().st_ctime) < NEW_SECONDS
    return is_new and not (path / SECRET).exists()


def _order(when: datetime) -> tuple[bool, datetime]:
    """Return what hand-ins are ordered by: one from the future is older than all others.

    A clock was wrong when it came, and all that came after it was put right would count as older.
    """
    return when <= datetime.now(UTC).replace(tzinfo=None) + AHEAD, when


def _owner(path: Path) -> str:
    """Return who owns a folder; what has become a link since is owned by whoever made that."""
    uid = path.lstat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _unread(error: Unreadable) -> str:
    return (
        f"it cannot be read ({error.strerror}), so nothing of this hand-in was collected. "
        f"{error.helps}, then run the same command"
    )

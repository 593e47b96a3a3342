"""A made-up class for the semester: who hands in what, when, and by which learning system.

Nothing is drawn by chance: who is late, who hands in again and who hands in nothing follows from
the student's number and the lesson's, so every figure can be worked out again.
"""

import hashlib
import math
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from grader.authoring.lesson import read_lesson
from grader.authoring.sample_class import CLASS, UNTOUCHED, submission
from utils.lab.exchange import COURSE_ID

FIRST_DUE: Final = datetime(2026, 10, 5, 12, tzinfo=UTC)
WAYS: Final = ("canvas", "moodle", "exchange")
KINDS: Final = tuple(CLASS)
JUST: Final = 1.0  # second
PERCENT_A_DAY, MOST_PERCENT = 10, 50  # as nbgrader_config.py has it
NAMES: Final = ("Lovelace, Ada", "Müller, Dan", "O'Neill, Björn", 'Quote "Q", Cleo')


@dataclass(frozen=True)
class Student:
    """One of the class; ids differ from system to system, as they do."""

    number: int

    @property
    def id(self) -> str:
        """Return the id in the gradebook."""
        return f"s{self.number:03d}"

    @property
    def canvas(self) -> int:
        """Return Canvas's user id."""
        return 1000 + self.number

    @property
    def moodle(self) -> int:
        """Return Moodle's participant number."""
        return 7000 + self.number

    @property
    def roster_row(self) -> str:
        """Return the line of the class list."""
        name = NAMES[self.number % len(NAMES)].replace('"', '""')
        return f'{self.id},"{name} {self.number}",{self.id}@uni.example,{self.canvas},{self.moodle}'


ROSTER_HEAD: Final = "student_id,name,email,canvas_user_id,moodle_participant"


@dataclass(frozen=True)
class HandIn:
    """What a student hands in for a lesson.

    Attributes:
        kind: which of the sample class's notebooks it is.
        attempt: 0, or 1 for a second one.

    """

    student: Student
    week: int
    kind: str
    attempt: int
    when: datetime

    @property
    def seconds_late(self) -> float:
        """Return the seconds after the due date, 0 if it is in time."""
        return max(0.0, (self.when - due(self.week)).total_seconds())

    @property
    def counted_late(self) -> float:
        """Return the seconds that count: of Canvas only the side of the due date is known."""
        return min(self.seconds_late, JUST) if way(self.week) == "canvas" else self.seconds_late


def due(week: int) -> datetime:
    """Return when the lesson of a week is due."""
    return FIRST_DUE + timedelta(weeks=week)


def way(week: int) -> str:
    """Return how the lesson of a week is handed in."""
    return WAYS[week % len(WAYS)]


def hand_ins(student: Student, week: int) -> list[HandIn]:
    """Return a student's hand-ins of one lesson, the one that counts last; there may be none."""
    turn = student.number + week
    if turn % 25 == 24:
        return []
    late = timedelta(days=student.number % 7, hours=1)
    when = due(week) + (late if turn % 5 == 1 else -timedelta(hours=20))
    kind = KINDS[turn % len(KINDS)]
    if turn % 8 != 3:
        return [HandIn(student, week, kind, 0, when)]
    # Work handed in again as it was keeps its first time, so what comes first is the stubs.
    early = HandIn(student, week, UNTOUCHED, 0, due(week) - timedelta(days=3))
    return [early, HandIn(student, week, "ada" if kind == UNTOUCHED else kind, 1, when)]


def kept_share(seconds_late: float) -> float:
    """Return the share of the points that is left after the late penalty."""
    days = math.ceil(seconds_late / (24 * 60 * 60))
    return 1 - min(days * PERCENT_A_DAY, MOST_PERCENT) / 100


@cache
def notebook(lesson_text: Path, kind: str) -> bytes:
    """Return one of the sample class's notebooks, as bytes."""
    return submission(read_lesson(lesson_text), kind, CLASS[kind]).encode()


def write_download(path: Path, lesson: Path, sent: Iterable[HandIn]) -> None:
    """Write a learning system's ZIP file of hand-ins, under the names that the system gives."""
    entry = {"canvas": _canvas_entry, "moodle": _moodle_entry}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for hand_in in sent:
            name = entry[way(hand_in.week)](hand_in, lesson.stem)
            about = zipfile.ZipInfo(name, hand_in.when.astimezone().timetuple()[:6])
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, notebook(lesson, hand_in.kind))


def _canvas_entry(hand_in: HandIn, lesson: str) -> str:
    student, again = hand_in.student, "-1" * hand_in.attempt
    late = "LATE_" * (hand_in.seconds_late > 0)
    file_id = 100_000 * (hand_in.attempt + 1) + student.number
    return f"name{student.number}_{late}{student.canvas}_{file_id}_{lesson}{again}.ipynb"


def _moodle_entry(hand_in: HandIn, lesson: str) -> str:
    student, again = hand_in.student, " (1)" * hand_in.attempt
    folder = f"Name {student.number}_{student.moodle}_assignsubmission_file"
    return f"{folder}/{lesson}{again}.ipynb"


def put_into_exchange(exchange: Path, lesson: Path, sent: Iterable[HandIn]) -> None:
    """Lay hand-ins into the exchange as nbgrader's Submit does, each with its secret."""
    for hand_in in sent:
        stamp = f"{hand_in.when:%Y-%m-%d %H:%M:%S.%f} UTC"
        name = f"{hand_in.student.id}+{lesson.stem}+{stamp}+{hand_in.attempt}"
        folder = exchange / COURSE_ID / "inbound" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{lesson.stem}.ipynb").write_bytes(notebook(lesson, hand_in.kind))
        (folder / "timestamp.txt").write_text(stamp)
        secret = hashlib.sha256(name.encode()).hexdigest()  # in the form of nbgrader's own
        (folder / "submission_secret.txt").write_text(secret)

"""Put hand-ins where grading looks for them, and never lose one that is there."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from grader.course.private import private_folder, write_private
from grader.course.time_stamp import LONGEST, as_time
from grader.errors import CourseError
from grader.regular_file import read_plain

TIMESTAMP: Final = "timestamp.txt"
MOST_BYTES: Final = 32 << 20


class Stored(StrEnum):
    """What became of a hand-in."""

    NEW = "new"
    REPLACED = "in place of an older one"
    SAME = "collected already"
    OLDER = "not newer than what is there, which stays"


@dataclass(frozen=True)
class HandIn:
    """A student's hand-in for one lesson.

    Attributes:
        files: name in submitted/ -> where the content is.
        told: when it was handed in, as the download says; maybe no more than the download's time.
        due: when the lesson is due, if the gradebook has that.
        late: whether the learning system says that it is late; None if it says nothing.
        order: grows from an older to a newer one of the same student, at equal times.
        entry: its path in the download, by which feedback goes back.

    """

    student: str
    lesson: str
    files: Mapping[str, Path]
    told: datetime
    due: datetime | None
    late: bool | None
    order: tuple[int, int]
    entry: str

    @property
    def time(self) -> datetime:
        """The time that counts: on the side of the deadline where the learning system saw it."""
        if self.due is None or self.late is None:
            return self.told
        return (
            max(self.told, self.due + timedelta(seconds=1))
            if self.late
            else min(self.told, self.due)
        )

    @property
    def is_late(self) -> bool:
        """Whether it came after the deadline, as far as is known."""
        return bool(self.due and self.time > self.due) if self.late is None else self.late


class Records:
    """What was collected from a system for a lesson: student -> entry, order and time."""

    def __init__(self, folder: Path, system: str, lesson: str) -> None:
        self._path = folder / "lms" / system / f"{lesson}.json"
        self._known = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise CourseError(f"{self._path} cannot be read ({error}). Move it away.") from None
        return dict(known)

    def entries(self) -> dict[str, str]:
        """Return student -> the path in the download of what counts."""
        return {student: record["entry"] for student, record in self._known.items()}

    def order(self, student: str, time: datetime | None) -> tuple[int, ...]:
        """Return the order of what was stored at a time; the first of all if it is not known."""
        record = self._known.get(student, {})
        is_that = time is not None and record.get("time") == _written(time)
        return tuple(record["order"]) if is_that else (1 << 62,)

    def note(self, hand_in: HandIn) -> None:
        """Note a hand-in that counts."""
        self._known[hand_in.student] = {
            "entry": hand_in.entry,
            "late": hand_in.is_late,
            "order": list(hand_in.order),
            "time": _written(hand_in.time),
        }

    def save(self) -> None:
        """Write the notes."""
        write_private(self._path, json.dumps(self._known, indent=1, ensure_ascii=False) + "\n")


def store(folder: Path, hand_in: HandIn, records: Records) -> Stored:
    """Put a hand-in into submitted/, unless one that is as new is there.

    What it replaces is moved to lms/replaced/.

    Raises:
        CourseError: the student's folder is a link.

    """
    place = folder / "submitted" / hand_in.student / hand_in.lesson
    if place.is_symlink() or place.parent.is_symlink():
        raise CourseError("the student's folder in submitted/ is a link: nothing is written there")
    if not place.exists():
        _write(hand_in, place)
        outcome = Stored.NEW
    elif _holds(place, hand_in):
        return _confirm(place, hand_in, records)
    else:
        outcome = _replace(folder, place, hand_in, records)
    if outcome != Stored.OLDER:
        records.note(hand_in)
    return outcome


def _confirm(place: Path, hand_in: HandIn, records: Records) -> Stored:
    """Keep what is there, with the earlier time; that follows a deadline that was moved."""
    earliest = replace(hand_in, told=min(hand_in.told, time_of(place) or hand_in.told))
    if records.entries().get(hand_in.student) == hand_in.entry:
        write_private(place / TIMESTAMP, _written(earliest.time))
    records.note(earliest)
    return Stored.SAME


def _replace(folder: Path, place: Path, hand_in: HandIn, records: Records) -> Stored:
    there = time_of(place)
    before = records.order(hand_in.student, there)
    if there is not None and (hand_in.time, hand_in.order) <= (there, before):
        return Stored.OLDER
    kept = folder / "lms" / "replaced" / hand_in.lesson / hand_in.student
    private_folder(kept)
    shutil.move(place, _free(kept, f"{there or hand_in.time:%Y-%m-%d-%H%M%S}"))
    _write(hand_in, place)
    return Stored.REPLACED


def _free(folder: Path, name: str) -> Path:
    """Return a path that nothing is at."""
    names: Iterator[str] = (name if n == 0 else f"{name}-{n}" for n in range(10_000))
    return next(folder / name for name in names if not (folder / name).exists())


def _holds(place: Path, hand_in: HandIn) -> bool:
    return all(
        read_plain(place / name, MOST_BYTES + 1) == path.read_bytes()
        for name, path in hand_in.files.items()
    )


def _write(hand_in: HandIn, place: Path) -> None:
    """Write a hand-in whole, in one step."""
    private_folder(place.parent)
    fresh = place.parent / f".{hand_in.lesson}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    for name, path in hand_in.files.items():
        shutil.copyfile(path, fresh / name)
    (fresh / TIMESTAMP).write_text(_written(hand_in.time), encoding="utf-8")
    fresh.replace(place)


def time_of(place: Path) -> datetime | None:
    """Return when what is in a folder of submitted/ was handed in; None if it is empty."""
    text = (read_plain(place / TIMESTAMP, 4 * LONGEST) or b"").decode(errors="replace").strip()
    if (told := as_time(text)) is not None:
        return told
    times = [path.lstat().st_mtime for path in place.iterdir()]
    return datetime.fromtimestamp(max(times), UTC).replace(microsecond=0) if times else None


def _written(time: datetime) -> str:
    """Return a time as nbgrader writes it in timestamp.txt."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

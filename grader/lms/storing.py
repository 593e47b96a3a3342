"""Put hand-ins where grading looks for them, and never lose one that is there."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from grader.course.beside import STAMP
from grader.course.hand_in_time import Came, as_time, noted_of, stamp, written
from grader.course.private import private_folder, write_private
from grader.errors import CourseError
from grader.regular_file import read_plain

MOST_BYTES: Final = 32 << 20


class Stored(StrEnum):
    """What became of a hand-in."""

    NEW = "new"
    REPLACED = "in place of an older one"
    ADDED = "collected already, with a new file beside it"
    SAME = "collected already"
    OLDER = "not newer than what is there, which stays"


@dataclass(frozen=True)
class Sent:
    """A file that was handed in.

    Attributes:
        path: where its content is.
        came: what is known of when it was handed in.
        order: grows from an older to a newer one of the same student, at equal times.
        entry: its path in the download, by which feedback goes back.

    """

    path: Path
    came: Came
    order: tuple[int, int]
    entry: str

    @property
    def age(self) -> tuple[str, list[int]]:
        """What grows from an older to a newer file, as it is noted."""
        return written(self.came.time), list(self.order)


@dataclass(frozen=True)
class HandIn:
    """A student's hand-in for one lesson: a notebook, and name -> what counts beside it."""

    student: str
    lesson: str
    notebook: Sent
    beside: Mapping[str, Sent] = field(default_factory=dict)


class Records:
    """What was collected from a system for a lesson: student -> entry, order and time.

    Each hand-in is noted before it is put into its place, which is empty by then: whenever a run is
    killed, it is known which of two hand-ins of one time is newer.
    """

    def __init__(self, folder: Path, system: str, lesson: str) -> None:
        self._path = folder / "lms" / system / f"{lesson}.json"
        try:
            self._known: dict[str, dict[str, Any]] = dict(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            self._known = {}
        except (OSError, ValueError, TypeError) as error:
            raise CourseError(f"{self._path} cannot be read ({error}). Move it away.") from None

    def entries(self) -> dict[str, str]:
        """Return student -> the path in the download of what counts."""
        return {student: record["entry"] for student, record in self._known.items()}

    def order(self, student: str, time: datetime | None) -> tuple[int, ...]:
        """Return the order of what was stored at a time; the first of all if it is not known."""
        return tuple(self._known[student]["order"]) if self.is_own(student, time) else (1 << 62,)

    def is_own(self, student: str, time: datetime | None) -> bool:
        """Return whether a time in submitted/ was written when what is noted was collected."""
        noted = self._known.get(student, {}).get("time")
        return time is not None and noted == written(time)

    def came(self, student: str) -> Came | None:
        """Return what is known of when a hand-in came; None if nothing was noted of it."""
        return noted_of(self._known.get(student, {}))

    def follow(self, student: str, place: Path, due: datetime) -> None:
        """Set a time that was collected anew, as its lesson's due date is now."""
        there, came = as_time(stamp(place)), self.came(student)
        if came is None or there is None or not self.is_own(student, there):
            return
        now = came.following(due)
        if now != came:
            self._note(student, time=written(now.time), **now.noted)
            _set_time(place, now.time)

    def beside(self, student: str, name: str, time: datetime | None) -> tuple[str, list[int]]:
        """Return what a file beside a notebook has to exceed: its time and order.

        One that is not known counts as old as the hand-in, whose time this is.
        """
        known = self._known.get(student, {}).get("beside", {}).get(name)
        return (known[0], known[1]) if known else (written(time) if time else "", [1 << 62])

    def note(self, hand_in: HandIn) -> None:
        """Note a hand-in that counts."""
        sent, before = hand_in.notebook, self._known.get(hand_in.student, {}).get("beside", {})
        time, order = sent.age
        beside = before | {name: file.age for name, file in hand_in.beside.items()}
        told = {"entry": sent.entry, "order": order, "time": time, "beside": beside}
        self._note(hand_in.student, **told, **sent.came.noted)

    def _note(self, student: str, **told: Any) -> None:
        self._known[student] = self._known.get(student, {}) | told
        write_private(self._path, json.dumps(self._known, ensure_ascii=False) + "\n")


def store(folder: Path, hand_in: HandIn, records: Records) -> tuple[Stored, Sequence[Sent]]:
    """Put a hand-in into submitted/, unless one that is as new is there.

    What it replaces is moved to lms/replaced/.

    Returns:
        What became of it, and the files beside its notebook that were not taken.

    Raises:
        CourseError: the student's folder is a link.

    """
    place = folder / "submitted" / hand_in.student / hand_in.lesson
    if place.is_symlink() or place.parent.is_symlink():
        raise CourseError("the student's folder in submitted/ is a link: nothing is written there")
    if not place.exists():
        _write(hand_in, place, records)
        outcome = Stored.NEW
    elif _holds(place / f"{hand_in.lesson}.ipynb", hand_in.notebook.path):
        return _confirm(folder, place, hand_in, records)
    else:
        outcome = _replace(folder, place, hand_in, records)
    return outcome, list(hand_in.beside.values()) if outcome == Stored.OLDER else []


def _confirm(
    folder: Path, place: Path, hand_in: HandIn, records: Records
) -> tuple[Stored, Sequence[Sent]]:
    """Keep what is there, with its first time; a file beside the notebook may be new."""
    there = time_of(place)
    other = {n: f for n, f in hand_in.beside.items() if not _holds(place / n, f.path)}
    older = {
        name: file
        for name, file in other.items()
        if (place / name).exists() and file.age <= records.beside(hand_in.student, name, there)
    }
    taken = {name: file for name, file in hand_in.beside.items() if name not in older}
    for name in taken.keys() & other.keys():
        _set_beside(place / name, other[name], _replaced(folder, hand_in))
    came, time = _first(place, hand_in, records)
    sent = replace(hand_in.notebook, came=came)
    records.note(replace(hand_in, notebook=sent, beside=taken))
    if time is not None:
        _set_time(place, time)
    return (Stored.ADDED if other.keys() - older else Stored.SAME), list(older.values())


def _first(place: Path, hand_in: HandIn, records: Records) -> tuple[Came, datetime | None]:
    """Return what is known of equal work that was there before, and its time: the first known.

    What a person wrote beside it since it was collected counts. Without any time it stays.
    """
    text, came = stamp(place), hand_in.notebook.came
    there = as_time(text)
    if there is None:
        return came, came.time if text else None
    is_same = records.entries().get(hand_in.student) == hand_in.notebook.entry
    is_own = records.is_own(hand_in.student, there)
    if is_same and not is_own:
        return came, there
    if came.is_exact:
        came = replace(came, by=min(came.by, there))
        return came, came.time
    before = records.came(hand_in.student)
    if before is None or not is_same:
        return came, there
    came = replace(came, by=min(came.by, before.by))
    return came, came.time


def _set_time(place: Path, time: datetime) -> None:
    """Write a hand-in's time, if it is another: who is killed meanwhile leaves a file beside it."""
    if as_time(stamp(place)) != time:
        write_private(place / STAMP, written(time))


def _set_beside(path: Path, file: Sent, replaced: Path) -> None:
    """Put a file beside a notebook; one that is there is kept elsewhere."""
    if path.exists():
        aside = private_folder(_free(replaced, f"{file.came.time:%Y-%m-%d-%H%M%S}"))
        shutil.move(path, aside / path.name)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)  # it may be a student's link
    shutil.copyfile(file.path, fresh)
    fresh.replace(path)


def _replace(folder: Path, place: Path, hand_in: HandIn, records: Records) -> Stored:
    there = time_of(place)
    if there is not None and not _is_newer(hand_in, there, records):
        return Stored.OLDER
    kept = _replaced(folder, hand_in)
    shutil.move(place, _free(kept, f"{there or hand_in.notebook.came.time:%Y-%m-%d-%H%M%S}"))
    _write(hand_in, place, records)
    return Stored.REPLACED


def _is_newer(hand_in: HandIn, there: datetime, records: Records) -> bool:
    """Return whether a hand-in is newer than the one that is there; Canvas numbers its own."""
    sent, order = hand_in.notebook, records.order(hand_in.student, there)
    if records.is_own(hand_in.student, there) and not sent.came.is_exact:
        return sent.order > order
    return (sent.came.latest, sent.order) > (there, order)


def _replaced(folder: Path, hand_in: HandIn) -> Path:
    return private_folder(folder / "lms" / "replaced" / hand_in.lesson / hand_in.student)


def _free(folder: Path, name: str) -> Path:
    """Return a path that nothing is at."""
    names: Iterator[str] = (name if n == 0 else f"{name}-{n}" for n in range(10_000))
    return next(folder / name for name in names if not (folder / name).exists())


def _holds(there: Path, given: Path) -> bool:
    return read_plain(there, MOST_BYTES + 1) == given.read_bytes()


def _write(hand_in: HandIn, place: Path, records: Records) -> None:
    """Write a hand-in whole, in one step, where nothing is, and note it before."""
    private_folder(place.parent)
    fresh = place.parent / f".{hand_in.lesson}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    shutil.copyfile(hand_in.notebook.path, fresh / f"{hand_in.lesson}.ipynb")
    for name, file in hand_in.beside.items():
        shutil.copyfile(file.path, fresh / name)
    (fresh / STAMP).write_text(written(hand_in.notebook.came.time), encoding="utf-8")
    records.note(hand_in)
    fresh.replace(place)


def time_of(place: Path) -> datetime | None:
    """Return when what is in a folder of submitted/ was handed in; None if it is empty."""
    if (told := as_time(stamp(place))) is not None:
        return told
    times = [path.lstat().st_mtime for path in place.iterdir()]
    return datetime.fromtimestamp(max(times), UTC).replace(microsecond=0) if times else None


def follow_due_dates(folder: Path, due: Mapping[tuple[str, str], datetime]) -> None:
    """Set anew the times that Canvas's marks stand for, as due dates for all are now."""
    for lesson, student in due:
        if not student:
            records = Records(folder, "canvas", lesson)
            for known in records.entries():
                records.follow(known, folder / "submitted" / known / lesson, due[lesson, ""])

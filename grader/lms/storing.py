"""Put hand-ins where grading looks for them, and never lose one that is there."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from grader.course.beside import STAMP
from grader.course.hand_in_files import MOST_BYTES
from grader.course.hand_in_time import Came, Note, as_time, read_notes, stamp, written
from grader.course.private import private_folder, write_private
from grader.errors import CourseError
from grader.regular_file import read_plain

LAST: Final = (1 << 62,)  # the order of what is not noted: the newest of its time


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
    order: tuple[int, ...]
    entry: str

    @property
    def age(self) -> tuple[str, tuple[int, ...]]:
        """What grows from an older to a newer file, as it is noted."""
        return written(self.came.time), self.order


@dataclass(frozen=True)
class HandIn:
    """A student's hand-in for one lesson: a notebook, and name -> what counts beside it."""

    student: str
    lesson: str
    notebook: Sent
    beside: Mapping[str, Sent] = field(default_factory=dict)


class Records:
    """What was collected from a system for a lesson.

    Each hand-in is noted before it is put into its place, which is empty by then: whenever a run is
    killed, it is known which of two hand-ins of one time is newer.

    Attributes:
        known: student -> what is noted.

    """

    def __init__(self, folder: Path, system: str, lesson: str) -> None:
        self._path = folder / "lms" / system / f"{lesson}.json"
        self.known = read_notes(self._path)

    def of(self, student: str) -> Note:
        """Return what is noted of a student; an empty note if nothing is."""
        return self.known.get(student, Note())

    def own(self, student: str, time: datetime | None) -> Note | None:
        """Return a note if a time in submitted/ was written when that was made."""
        is_own = time is not None and self.of(student).time == written(time)
        return self.of(student) if is_own else None

    def follow(self, student: str, place: Path, due: datetime) -> None:
        """Set a time that was collected anew, as its lesson's due date is now."""
        note = self.own(student, as_time(stamp(place)))
        if note is None or (came := note.came) is None:
            return
        if (now := came.following(due)) != came:
            self._write(student, note.of(now))
            _set_time(place, now.time)

    def note(self, hand_in: HandIn) -> None:
        """Note a hand-in that counts."""
        sent = hand_in.notebook
        beside = {name: file.age for name, file in hand_in.beside.items()}
        note = Note(sent.entry, sent.order, beside=self.of(hand_in.student).beside | beside)
        self._write(hand_in.student, note.of(sent.came))

    def rename(self, old: str, new: str) -> None:
        """Note under a student's new id what was collected under the old one."""
        if old in self.known:
            note = self.known.pop(old)
            self._write(new, self.known.get(new, note))

    def _write(self, student: str, note: Note) -> None:
        self.known[student] = note
        write_private(self._path, msgspec.json.encode(self.known) + b"\n")


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
    there, note = time_of(place), records.of(hand_in.student)
    unknown = (written(there) if there else "", LAST)  # it counts as old as the hand-in
    other = {n: f for n, f in hand_in.beside.items() if not _holds(place / n, f.path)}
    older = {
        name: file
        for name, file in other.items()
        if (place / name).exists() and file.age <= note.beside.get(name, unknown)
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
    note = records.of(hand_in.student)
    is_same = note.entry == hand_in.notebook.entry
    if is_same and records.own(hand_in.student, there) is None:
        return came, there
    if came.is_exact:
        came = replace(came, by=min(came.by, there))
        return came, came.time
    if (before := note.came) is None or not is_same:
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
    sent, note = hand_in.notebook, records.own(hand_in.student, there)
    if note is not None and not sent.came.is_exact:
        return sent.order > note.order
    return (sent.came.latest, sent.order) > (there, note.order if note else LAST)


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
            for known in list(records.known):
                records.follow(known, folder / "submitted" / known / lesson, due[lesson, ""])

"""Tell when a hand-in came, as far as that is known, and how late it is.

A time lies beside each hand-in, in a file that students can write, and instructors by hand. Of the
learning systems Moodle gives files their own times. Canvas gives them the time of the download,
and marks some LATE: after the due date of the download's assignment, no more. What is not known is
not computed with, or each day that a download waits would cost students points.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from grader.course.beside import STAMP
from grader.errors import CourseError
from grader.regular_file import read_plain_text

LONGEST: Final = 64  # characters of a time; a longer text is none
JUST: Final = timedelta(seconds=1)
TOGETHER: Final = timedelta(hours=1)  # files of one late hand-in are uploaded one after another
NO_ZONES: Final = ("Factory", "localtime", "posixrules", "posix", "right")  # beside the real ones
_FORM: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r"(?:(Z|[+-]\d\d:?\d\d)| ([A-Za-z][\w+-]*(?:/[\w+-]+)*))",
    re.ASCII,
)


def moments(text: str) -> list[datetime]:
    """Return which moments a time with Z, an offset, or a space and a zone may mean, in UTC.

    Clocks that are put back show a time twice. A zone that does not exist makes it no time.
    """
    found = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    if not found:
        return []
    moment, offset, name = found.groups()
    try:
        if offset:
            return [datetime.fromisoformat(moment + offset).astimezone(UTC)]
        if name.partition("/")[0] in NO_ZONES:
            return []
        told = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(name))
        return [told.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
    except (ValueError, OverflowError, OSError, KeyError):  # the last of a zone that is none
        return []


def as_time(text: str) -> datetime | None:
    """Read a hand-in's time; of two moments the earlier counts, for the student."""
    found = [told for told in moments(text) if 1970 <= told.year < 9999]
    return min(found, default=None)


def written(time: datetime) -> str:
    """Return a time as nbgrader writes it beside a hand-in."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def stamp(folder: Path) -> str:
    """Return what stands in a hand-in's file of the time; "" if there is none.

    Raises:
        Unreadable: it is there and cannot be read.

    """
    return read_plain_text(folder / STAMP, 4 * LONGEST).strip()


def late_by(
    came: datetime | None, due: datetime | None, extension: timedelta | None = None
) -> timedelta:
    """Return how late a hand-in is; nothing if one of the times is not known."""
    if came is None or due is None:
        return timedelta()
    return max(timedelta(), came - due - (extension or timedelta()))


@dataclass(frozen=True)
class Came:
    """What a download tells of when a file came.

    Attributes:
        by: the file's own time: it came then (Moodle), or some time before (Canvas).
        is_exact: whether it came then.
        due: when the lesson was due for all, as far as that was known when it was collected.
        is_marked: whether the system marked it as late; None if its marks are of another lesson.

    """

    by: datetime
    is_exact: bool = True
    due: datetime | None = None
    is_marked: bool | None = None

    @property
    def is_late(self) -> bool:
        """Whether it counts as later than the due date for all."""
        is_after = self.due is not None and self.by > self.due
        return is_after if self.is_exact or self.is_marked is None else self.is_marked

    @property
    def is_day_known(self) -> bool:
        """Whether a penalty by days can be computed."""
        return self.is_exact or not self.is_late

    @property
    def time(self) -> datetime:
        """The time that counts: where only the side of the due date is known, the nearest."""
        if self.is_exact or self.due is None:
            return self.by
        return self.due + JUST if self.is_late else min(self.by, self.due)

    @property
    def latest(self) -> datetime:
        """The latest time at which it may have come."""
        return self.time if self.is_day_known else self.by

    def following(self, due: datetime | None) -> "Came":
        """Return what is known of it after the due date was set or moved.

        A mark speaks of the due date that was known then: what was on time stays so, and a
        submission marked late may be in time for a later date.
        """
        if due is None or self.is_exact:
            return self
        known = due if self.due is None else self.due
        if self.is_marked is None:
            known = due
        return replace(self, due=known if self.is_marked else min(known, due))


class Note(msgspec.Struct, frozen=True):
    """What is noted of a hand-in that was collected from a learning system.

    Attributes:
        entry: the path of its notebook in the download.
        order: grows from an older to a newer one of the same student, at equal times.
        time: what was written beside it.
        beside: file beside the notebook -> its time and order.
        by: as in `Came`, like the next three; "" in notes of earlier versions.

    """

    entry: str = ""
    order: tuple[int, ...] = ()
    time: str = ""
    beside: dict[str, tuple[str, tuple[int, ...]]] = {}
    by: str = ""
    exact: bool = True
    due: str | None = None
    marked: bool | None = None

    @property
    def came(self) -> Came | None:
        """What is known of when it came; None if an earlier version noted it."""
        by, due = as_time(self.by), as_time(self.due or "")
        return None if by is None else Came(by, self.exact, due, self.marked)

    def of(self, came: Came) -> "Note":
        """Return the note with what is known of when it came."""
        due = came.due and written(came.due)
        time, by = written(came.time), written(came.by)
        return msgspec.structs.replace(
            self, time=time, by=by, exact=came.is_exact, due=due, marked=came.is_marked
        )


Notes = dict[str, Note]  # by student


def read_notes(file: Path) -> Notes:
    """Read lms/<system>/<lesson>.json, what is noted of hand-ins.

    Raises:
        CourseError: it cannot be read.

    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=Notes)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise CourseError(f"{file} cannot be read ({error}). Move it away.") from None


def from_canvas(folder: Path, lesson: str) -> dict[str, tuple[datetime, Came]]:
    """Return student -> the time that was written beside what Canvas had, and what it stands for.

    Notes that cannot be read tell nothing here; collecting says so.
    """
    notes: Notes = {}
    with suppress(CourseError):
        notes = read_notes(folder / "lms" / "canvas" / f"{lesson}.json")
    found = {student: (as_time(note.time), note.came) for student, note in notes.items()}
    return {s: (time, came) for s, (time, came) in found.items() if time and came}


def unknown_days(folder: Path, lessons: Iterable[str]) -> dict[tuple[str, str], Came]:
    """Return (student, lesson) -> what is known of late hand-ins from Canvas: not the day.

    Those beside which a person wrote a time are left out.
    """
    return {
        (student, lesson): came
        for lesson in lessons
        for student, (time, came) in sorted(from_canvas(folder, lesson).items())
        if came.due is not None and not came.is_day_known
        if as_time(stamp(folder / "submitted" / student / lesson)) == time
    }


@dataclass(frozen=True)
class Download:
    """What is known of one download's times.

    Attributes:
        due: (lesson, student) -> when it is due, with extensions; student "" stands for all.
        is_exact: whether files have the times at which they came.
        slot: the lesson whose assignment the system's marks speak of; None if that is not clear,
            or if it marks nothing.

    """

    due: Mapping[tuple[str, str], datetime]
    is_exact: bool
    slot: str | None = None

    def came(self, lesson: str, by: datetime, *, is_marked: bool) -> Came:
        """Return what is known of a file with this time and mark."""
        due = self.due.get((lesson, ""))
        return Came(by, self.is_exact, due, is_marked if lesson == self.slot else None)

    def latest(self, lesson: str, student: str, notebook: datetime) -> datetime | None:
        """Return until when a file beside a notebook counts; None if there is no due date.

        It never makes the notebook late: a late one is left out instead.
        """
        due = self.due.get((lesson, student), self.due.get((lesson, "")))
        return due and (due if notebook <= due else notebook + TOGETHER)


def slot_of(lessons: Sequence[str], hand_ins: Collection[tuple[str, str]]) -> str | None:
    """Return the lesson whose assignment a download is of; None if that is not clear.

    Args:
        lessons: those that were asked for; a single one is it.
        hand_ins: the students and lessons of the notebooks. One student alone does not decide, or
            a notebook in another assignment's place would be on time.

    """
    if len(lessons) == 1:
        return lessons[0]
    counts = Counter(lesson for _, lesson in hand_ins).most_common(2)
    numbers = [count for _, count in counts]
    is_clear = bool(counts) and numbers[0] > 1 and numbers[0] > sum(numbers[1:])
    return counts[0][0] if is_clear else None

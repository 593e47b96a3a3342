"""List what deserves a look in a class and shows in no status.

The roster and the hand-ins may differ, a hand-in may lie where grading does not look, a gradebook
may hold what a person should know of: in silence, each would cost somebody points.
"""

import os
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import Final

from grader.course.beside import STAMP
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.hand_in_files import lying_beside
from grader.course.hand_in_time import LONGEST, as_time, stamp, unknown_days
from grader.course.roster_file import listed, meant_by
from grader.course.safe_text import line
from grader.course.wording import first
from grader.errors import PROGRAM, nearest
from grader.notebook_file import may_be_meant
from grader.regular_file import Unreadable

MOST_LINES: Final = 3  # on what lies elsewhere
MOST_SCORES: Final = 3
MOST_NAMED: Final = 8
PLACE: Final = "submitted/<student>/<lesson>/<lesson>.ipynb"
GIVE_TIME: Final = f"A time in {STAMP} beside the notebook counts, such as 2026-10-05 23:10 UTC"
JUST_LATE: Final = (
    f"Each counts as just late, or as within an extension. {GIVE_TIME}; then run make grade"
)
RESOLVE: Final = "In make teach, Resolve keeps yours, an empty field lets the grader's count"
NO_TIME: Final = "Write UTC, Z, an offset such as +01:00 or a zone such as Europe/Berlin behind it"


def notices(course: GradingCourse, book: Book) -> list[str]:
    """Return a line for each kind of notice, with the first whom it concerns."""
    days = unknown_days(course.folder, [lesson.name for lesson in course.lessons])
    late = [f"{line(student)} {lesson}" for student, lesson in days]
    kinds = (
        ("score by hand differs from the grader's new one", _overruled(book), MOST_SCORES, RESOLVE),
        ("no time recorded, counted as on time", _without_time(book), MOST_NAMED, GIVE_TIME),
        (f"no time in {STAMP}, counted as on time", _no_times(course), MOST_NAMED, NO_TIME),
        ("late, day not known", late, MOST_NAMED, JUST_LATE),
    )
    told = [
        f"{what}: {first(listed, most)}. {helps}"
        for what, found, most, helps in kinds
        if (listed := list(found))
    ]
    return [*not_in_roster(course, book), *told]


def _overruled(book: Book) -> Iterator[str]:
    """Yield scores by hand that hide what was graded since.

    nbgrader's mark is set when something with a score by hand is graded again, and taken off when a
    person resolves it in formgrader.
    """
    for (student, lesson), record in sorted(book.records.items()):
        for exercise, mark in record.marks.items():
            if mark.is_overruled:
                scores = f"yours {mark.manual:g}, the grader's {mark.auto:g}"
                yield f"{line(student)} {lesson} {exercise} ({scores})"


def _without_time(book: Book) -> Iterator[str]:
    """Yield hand-ins that may have come late: their lesson was due, and no time is told.

    A hand-in has none where somebody put it into submitted/ by hand.
    """
    now = datetime.now(UTC).replace(tzinfo=None)  # as nbgrader keeps due dates
    for (student, lesson), record in sorted(book.records.items()):
        if record.handed_in is None and record.due is not None and record.due < now:
            yield f"{line(student)} {lesson}"


def _no_times(course: GradingCourse) -> Iterator[str]:
    """Yield hand-ins beside which the file of the time holds another text."""
    for student, lesson in course.submitted():
        with suppress(Unreadable):  # grading tells that
            text = stamp(course.folder / "submitted" / student / lesson)
            if text and as_time(text) is None:
                yield f'{line(student)} {lesson} has "{line(shorten(text, LONGEST))}"'


def absent(course: GradingCourse, book: Book) -> Mapping[str, Sequence[str]]:
    """Return lesson -> the roster's students who handed in nothing of it, ordered.

    A lesson that nobody has handed in yet is left out: it may not have begun. Without a roster
    nobody is missed.
    """
    if not (class_list := {student.id for student in listed(course.folder) if not student.left}):
        return {}
    there: dict[str, set[str]] = defaultdict(set)
    for student, lesson in [*book.records, *course.submitted()]:
        there[lesson].add(student)
    missed = {lesson: sorted(class_list - students) for lesson, students in there.items()}
    return {lesson: students for lesson, students in missed.items() if students}


def not_in_roster(course: GradingCourse, book: Book) -> list[str]:
    """Return a sentence on whom the roster does not list, with who is near and what mends it.

    Without a roster nobody is told.
    """
    entries = listed(course.folder)
    if not (known := {student.id for student in entries}):
        return []
    work: dict[str, set[str]] = {student: set() for student in book.people}
    for student, lesson in [*book.records, *course.submitted()]:
        work.setdefault(student, set()).add(lesson)
    if not (strangers := sorted(work.keys() - known)):
        return []
    near = {student: meant_by(student, entries) for student in strangers}
    told = first(
        [_told(student, work[student], near[student][1]) for student in strangers], MOST_NAMED
    )
    whose = next((f"--rename {_word(f'{s}={own}')}" for s, (own, _) in near.items() if own), "")
    ways = [f"say whose an id is (roster {whose})"] if whose else []
    ways += ["add them (roster FILE.csv)", f"take them out (roster --out {_word(strangers[0])})"]
    return [f"not in the roster: {told}. With {PROGRAM}: {', '.join(ways[:-1])}, or {ways[-1]}"]


def _told(student: str, work: set[str], near: str) -> str:
    return " ".join([line(student), *sorted(work)]) + (f" ({near})" if near else "")


def _word(name: str) -> str:
    return line(shlex.quote(name))


def misplaced(course: GradingCourse) -> list[str]:
    """Return a line for what in submitted/ is not read: the first, then how many more.

    Folders are listed, one level each, and no link is followed. Hidden names are the system's, or
    what grading and collecting put there for a moment.
    """
    found = list(_misplaced(course))
    shown = found if len(found) <= MOST_LINES else found[: MOST_LINES - 1]
    lines = [f"not read: {line(path)} ({reason})" for path, reason in shown]
    if more := len(found) - len(shown):
        lines.append(f"not read: {more:,} more; a hand-in's place is {PLACE}")
    return lines


def _misplaced(course: GradingCourse) -> Iterator[tuple[str, str]]:
    lessons = [lesson.name for lesson in course.lessons]
    refused = set(course.left_out())  # named already, with their own reason
    entries, faults = _listed(course.folder / "submitted", "submitted")
    yield from faults
    for entry in entries:
        if ascii(entry.name) in refused:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _of_student(entry, lessons)
        elif _is_notebook(entry):
            yield f"submitted/{entry.name}", f"its place is {PLACE}"


def _of_student(folder: os.DirEntry[str], lessons: Collection[str]) -> Iterator[tuple[str, str]]:
    home = f"submitted/{folder.name}"
    entries, faults = _listed(Path(folder.path), home)
    yield from faults
    for entry in entries:
        where = f"{home}/{entry.name}"
        if entry.name in lessons and entry.is_dir(follow_symlinks=False):
            yield from _beside(Path(entry.path), where, entry.name)
        elif _is_notebook(entry):
            yield where, _home(folder.name, entry.name, lessons)
        elif entry.name not in lessons and not entry.is_file(follow_symlinks=False):
            question = nearest(entry.name, lessons)
            yield where, "no such lesson" + question.replace("Did", "; did", 1)


def _beside(folder: Path, where: str, lesson: str) -> Iterator[tuple[str, str]]:
    """Yield what lies in a hand-in's folder beside what grading reads; it tells what it cannot."""
    with suppress(OSError):
        for name in lying_beside(folder, lesson):
            yield f"{where}/{name}", "grading reads the notebook alone"


def _home(student: str, notebook: str, lessons: Collection[str]) -> str:
    """Return where a notebook belongs that lies in no lesson's folder."""
    if student in lessons:
        return f"its place is {PLACE}"
    lesson = notebook.partition(".")[0]
    own = lesson if lesson in lessons else "<lesson>"
    return f"its place is submitted/{line(student)}/{own}/"


def _is_notebook(entry: os.DirEntry[str]) -> bool:
    return may_be_meant(entry.name) and not entry.is_dir(follow_symlinks=False)


def _listed(folder: Path, where: str) -> tuple[list[os.DirEntry[str]], list[tuple[str, str]]]:
    """Return what is not hidden in a folder, ordered by name, and why it cannot be listed if so.

    Hand-ins in a folder that cannot be listed are found by nobody else, either.
    """
    try:
        with os.scandir(folder) as found:
            seen = [entry for entry in found if not entry.name.startswith(".")]
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [(where, f"it cannot be listed: {error.strerror}")]
    return sorted(seen, key=lambda entry: entry.name), []

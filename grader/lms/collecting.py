"""Collect a learning system's download of hand-ins into submitted/."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.calendar.deadlines import due_dates
from grader.course.course import GradingCourse
from grader.course.hand_in_files import NOT_READ, note_unread
from grader.course.hand_in_time import Came, Download, slot_of, unknown_days
from grader.course.private import private_folder
from grader.course.roster_file import Student
from grader.errors import CourseError
from grader.lms.claims import READERS, Claim, is_typed, nameless
from grader.lms.leftovers import Left, keep
from grader.lms.matching import Owners, Unmatched
from grader.lms.members import Members
from grader.lms.storing import HandIn, Records, Sent, Stored, store
from grader.lms.unpack import Unpacked, is_archive, unpack
from grader.notebook_file import Malformed, is_notebook, lesson_of, may_be_meant

MOST_INSIDE: Final = 64 << 20  # bytes of a student's own archive
UNPACKING: Final = "unpacking-"  # how the folder's name begins that a download is unpacked in


@dataclass(frozen=True)
class Request:
    """What to collect.

    Attributes:
        system: "canvas" or "moodle".
        archive: the download, a ZIP file.
        lessons: those that its notebooks may be of.
        companions: lesson -> names of files that may come with its notebook.

    """

    system: str
    archive: Path
    lessons: Sequence[Lesson]
    companions: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collected:
    """What became of a download.

    Attributes:
        stored: (student, lesson, late) -> what became of the hand-in, in order.
        left: files that were not collected.
        absent: students of whom nothing is there.
        kept: the folder with what was left over, if anything was.
        slot: the lesson of which the system's marks speak, if it is clear.
        by_name: students who were known by name, for the roster has another number of theirs.
        days: (student, lesson) -> what is known of when a late hand-in came, if not the day.

    """

    stored: Mapping[tuple[str, str, bool], Stored]
    left: Sequence[Left]
    absent: Sequence[str]
    kept: Path | None
    slot: str | None = None
    days: Mapping[tuple[str, str], Came] = field(default_factory=dict)
    by_name: Sequence[str] = ()


@dataclass(frozen=True)
class _Found:
    """A file whose owner is known.

    Attributes:
        is_read: False for an archive that was looked into, and holds nothing that grading reads.

    """

    file: Unpacked
    claim: Claim
    student: str
    is_read: bool = True


def collect(course: GradingCourse, request: Request, known: Members) -> Collected:
    """Unpack a download, match its files with those who are known, store what is new.

    Raises:
        CourseError: the download cannot be read.

    """
    with _scratch(course.folder) as folder:
        files, left = unpack(request.archive, Path(folder))
        matched, by_name = _owned(request, files, known.students, left)
        owned = [x for found in matched for x in _opened(found)]
        newest, beside = _sorted_out(course, request, owned, left)
        is_exact = request.system == "moodle"
        slot = None if is_exact else slot_of([x.name for x in request.lessons], newest)
        times = Download(due_dates(course, known.book), is_exact, slot)
        hand_ins = _hand_ins(request, times, newest, beside, left)
        stored = _stored(course, request.system, hand_ins, left)
        there = {found.student for found in owned}
        absent = [student.id for student in known.students if student.id not in there]
        kept = keep(course.folder, request.archive, left, absent)
        unknown = unknown_days(course.folder, sorted({lesson for _, lesson in newest}))
    days = {key: came for key, came in unknown.items() if key in newest}
    return Collected(stored, left, absent, kept, slot, days, sorted(by_name))


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Make a folder to unpack in; what a killed run had unpacked goes, for it may be large."""
    private_folder(folder / "lms")
    home = folder / ".course"  # which no archive keeps
    home.mkdir(exist_ok=True)
    for half in home.glob(f"{UNPACKING}*"):
        shutil.rmtree(half, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=UNPACKING, dir=home)


def _owned(
    request: Request, files: Sequence[Unpacked], students: Sequence[Student], left: list[Left]
) -> tuple[list[_Found], set[str]]:
    """Return the files whose owners are known, and who was known by name.

    The others are noted, and what may be work is kept.
    """
    read = READERS[request.system]
    claims = {file.entry: read(file.entry) for file in files}
    known = [claim for readings in claims.values() for claim in readings]
    owners = Owners(request.system, students, known)
    found = []
    for file in files:
        readings = claims[file.entry]
        try:
            if is_typed(request.system, file.entry) and not may_be_meant(file.entry):
                reason = f"it was typed into a form: {NOT_READ}"
                left.append(Left(file.entry, reason, is_fault=False))
                continue
            if not readings:
                raise Unmatched(nameless(request.system, file.entry))
            found.append(_Found(file, readings[0], owners.owner_of(readings).id))
        except Unmatched as error:
            left.append(Left(file.entry, str(error), _work(request, file)))
    return found, owners.by_name


def _opened(found: _Found) -> list[_Found]:
    """Return what is in a student's own ZIP file, if one notebook is; else the file as it came.

    One level is unpacked. It counts as handed in when the file did, whatever times it holds.
    Documents of an office are such files, too, and nothing that grading reads.
    """
    path = found.file.path
    if not is_archive(path):
        return [found]
    into = path.with_name(f"{path.name}-inside")
    into.mkdir()
    try:
        inside, bad = unpack(path, into, MOST_INSIDE)
    except CourseError:
        return [found]
    if (count := sum(is_notebook(x.path) for x in inside)) != 1:
        is_work = bad or count or any(is_archive(x.path) for x in inside)
        return [replace(found, is_read=bool(is_work))]
    claims = [replace(found.claim, file=x.entry.rpartition("/")[2]) for x in inside]
    files = [replace(found.file, path=x.path) for x in inside]
    return [_Found(*pair, found.student) for pair in zip(files, claims, strict=True)]


def _work(request: Request, file: Unpacked) -> Path | None:
    """Return where a file is that may be somebody's work; None if grading would not read it."""
    beside = [name for names in request.companions.values() for name in names]
    is_meant = may_be_meant(file.entry) or file.entry.endswith(tuple(beside))
    return file.path if is_meant or is_archive(file.path) or is_notebook(file.path) else None


_Newest = dict[tuple[str, str], _Found]  # by student and lesson


def _sorted_out(
    course: GradingCourse, request: Request, owned: Sequence[_Found], left: list[Left]
) -> tuple[_Newest, list[_Found]]:
    """Return each student's newest notebook of each lesson, and what may come beside one.

    The latter from older to newer. What grading does not read is named; somebody has to look at it
    where no notebook came with it.
    """
    newest: _Newest = {}
    beside: list[_Found] = []
    others: list[_Found] = []
    for found in sorted(owned, key=_age):
        try:
            lesson = _lesson(course, request, found)
        except Malformed:
            others.append(found)
            continue
        except Unmatched as error:
            left.append(Left(found.file.entry, str(error), found.file.path))
            continue
        if lesson is None:
            beside.append(found)
        else:
            if older := newest.get((found.student, lesson)):
                reason = f"it is older than {found.claim.file}, which counts"
                left.append(Left(older.file.entry, reason, older.file.path, is_fault=False))
            newest[found.student, lesson] = found
    with_one = {student for student, _ in newest}
    for found in others:
        is_alone = found.student not in with_one
        reason = "it is not a notebook, and none came with it" if is_alone else NOT_READ
        if not found.file.entry.endswith(found.claim.file):  # in the student's own archive
            reason = f"{reason} ({found.claim.file})"
        left.append(Left(found.file.entry, reason, is_fault=is_alone))
    for student, lesson in newest:
        names = [x.claim.file for x in others if x.student == student]
        note_unread(course.folder, student, lesson, names)
    return newest, beside


def _age(found: _Found) -> tuple[int, datetime, int]:
    """Return what grows from older to newer: Canvas's numbers; in Moodle times, then attempts."""
    file_id, attempt = found.claim.order
    return file_id, found.file.time, attempt


def _lesson(course: GradingCourse, request: Request, found: _Found) -> str | None:
    """Return the lesson of a notebook; None for another file that may come with one.

    Raises:
        Unmatched: it is a notebook of no lesson that was asked for, or may be one.
        Malformed: it is neither.

    """
    if found.claim.plain_file in {n for names in request.companions.values() for n in names}:
        return None
    if not found.is_read:
        raise Malformed(NOT_READ)
    if is_archive(found.file.path):
        raise Unmatched("it is an archive in the archive, not of one notebook: ask for that itself")
    try:
        lesson = lesson_of(found.file.path.read_bytes(), course.lessons).name
    except Malformed as error:
        if may_be_meant(found.claim.file):
            raise Unmatched(str(error)) from None
        raise
    wanted = [wanted.name for wanted in request.lessons]
    if lesson not in wanted:
        raise Unmatched(f"it is a notebook of {lesson}, and {', '.join(wanted)} was asked for")
    return lesson


def _hand_ins(
    request: Request, times: Download, newest: _Newest, beside: Sequence[_Found], left: list[Left]
) -> list[HandIn]:
    """Return the hand-ins, each with the files beside its notebook that count."""
    hand_ins = []
    alone = {x.file.entry: x for x in beside}
    for (student, lesson), found in sorted(newest.items()):
        names = request.companions.get(lesson, ())
        own = [x for x in beside if x.student == student and x.claim.plain_file in names]
        alone = {entry: x for entry, x in alone.items() if x not in own}
        hand_ins.append(_hand_in(times, lesson, found, own, left))
    left += [Left(entry, "no notebook came with it", x.file.path) for entry, x in alone.items()]
    return hand_ins


def _hand_in(
    times: Download, lesson: str, found: _Found, own: Sequence[_Found], left: list[Left]
) -> HandIn:
    """Return a hand-in; of several files of one name beside its notebook the newest counts."""
    notebook, beside = _sent(times, lesson, found), dict[str, Sent]()
    latest = times.latest(lesson, found.student, notebook.came.time)
    for other in own:
        name, file = other.claim.plain_file, _sent(times, lesson, other)
        if latest is not None and file.came.time > latest:
            left.append(_uncounted(file, f"it came after {latest:%Y-%m-%d %H:%M} UTC, too late"))
            continue
        if older := beside.get(name):
            left.append(_uncounted(older, "it is older than another of its name"))
        beside[name] = file
    return HandIn(found.student, lesson, notebook, beside)


def _sent(times: Download, lesson: str, found: _Found) -> Sent:
    came = times.came(lesson, found.file.time, is_marked=found.claim.late)
    return Sent(found.file.path, came, found.claim.order, found.file.entry)


def _uncounted(file: Sent, reason: str) -> Left:
    return Left(file.entry, reason, file.path, is_fault=False)


def _stored(
    course: GradingCourse, system: str, hand_ins: Sequence[HandIn], left: list[Left]
) -> dict[tuple[str, str, bool], Stored]:
    """Store hand-ins; one that cannot be stored is left over, and the others go on."""
    stored: dict[tuple[str, str, bool], Stored] = {}
    records: dict[str, Records] = {}
    for hand_in in hand_ins:
        lesson, notebook = hand_in.lesson, hand_in.notebook
        if lesson not in records:
            records[lesson] = Records(course.folder, system, lesson)
        try:
            outcome, older = store(course.folder, hand_in, records[lesson])
        except (CourseError, OSError) as error:
            files = [notebook, *hand_in.beside.values()]
            left += [Left(x.entry, str(error), x.path) for x in files]
            continue
        stored[hand_in.student, lesson, notebook.came.is_late] = outcome
        if outcome == Stored.OLDER:
            left.append(_uncounted(notebook, f"it is {outcome}"))
        left += [_uncounted(x, f"it, or its notebook, is {Stored.OLDER}") for x in older]
    return stored


def told(collected: Collected) -> str:
    """Return how many hand-ins became what, on one line."""
    counts = Counter(collected.stored.values())
    late = sum(is_late for _, _, is_late in collected.stored)
    parts = [f"{counts[outcome]} {outcome}" for outcome in Stored if counts[outcome]]
    return (", ".join(parts) or "none") + (f"; {late} late" if late else "")

"""Collect a learning system's download of hand-ins into submitted/."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import MissingEntry

from grader.authoring.lesson import Lesson
from grader.course.course import GradingCourse
from grader.course.private import private_folder
from grader.errors import CourseError
from grader.lms.claims import READERS, Claim
from grader.lms.leftovers import Left, keep
from grader.lms.matching import Owners, Unmatched, lesson_of
from grader.lms.roster import Student
from grader.lms.storing import HandIn, Records, Stored, store
from grader.lms.unpack import Unpacked, is_archive, unpack


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

    """

    stored: Mapping[tuple[str, str, bool], Stored]
    left: Sequence[Left]
    absent: Sequence[str]
    kept: Path | None


@dataclass(frozen=True)
class _Found:
    """A file whose owner is known."""

    file: Unpacked
    claim: Claim
    student: str


def collect(course: GradingCourse, request: Request, students: Sequence[Student]) -> Collected:
    """Unpack a download, match its files, store what is new.

    Raises:
        CourseError: the download cannot be read.

    """
    scratch = private_folder(course.folder / "lms")
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=scratch) as folder:
        files, refused = unpack(request.archive, Path(folder))
        left = [Left(entry.entry, entry.reason) for entry in refused]
        owned = _owned(request, files, students, left)
        hand_ins = _hand_ins(course, request, owned, left)
        stored = _stored(course, request.system, hand_ins, left)
        there = {found.student for found in owned}
        absent = [student.id for student in students if student.id not in there]
        kept = keep(course.folder, request.archive, left, absent)
    return Collected(stored, left, absent, kept)


def _owned(
    request: Request, files: Sequence[Unpacked], students: Sequence[Student], left: list[Left]
) -> list[_Found]:
    """Return the files whose owners are known; note the others."""
    read = READERS[request.system]
    claims = {file.entry: read(file.entry) for file in files}
    known = [claim for claim in claims.values() if claim is not None]
    owners = Owners(request.system, students, known)
    found = []
    for file in files:
        claim = claims[file.entry]
        try:
            if claim is None:
                raise Unmatched(f"its name is not one that {request.system.title()} gives")
            found.append(_Found(file, claim, owners.owner(claim).id))
        except Unmatched as error:
            left.append(Left(file.entry, str(error), file.path))
    return found


def _hand_ins(
    course: GradingCourse, request: Request, owned: Sequence[_Found], left: list[Left]
) -> list[HandIn]:
    """Return each student's newest notebook of each lesson, with what may come beside it."""
    newest: dict[tuple[str, str], _Found] = {}
    beside: list[_Found] = []
    for found in sorted(owned, key=_age):
        try:
            lesson = _lesson(course, request, found)
        except Unmatched as error:
            left.append(Left(found.file.entry, str(error), found.file.path))
            continue
        if lesson is None:
            beside.append(found)
        else:
            _set_aside(newest.get((found.student, lesson)), found, left)
            newest[found.student, lesson] = found
    files = {key: _files(request, key, found, beside) for key, found in newest.items()}
    _note_unused(beside, files.values(), left)
    due = _deadlines(course, {lesson for _, lesson in newest})
    return [
        _hand_in(request.system, key, found, files[key], due[key[1]])
        for key, found in sorted(newest.items())
    ]


def _age(found: _Found) -> tuple[int, datetime, int]:
    """Return what grows from older to newer: Canvas's numbers; in Moodle times, then attempts."""
    file_id, attempt = found.claim.order
    return file_id, found.file.time, attempt


def _lesson(course: GradingCourse, request: Request, found: _Found) -> str | None:
    """Return the lesson of a notebook; None for another file that may come with one.

    Raises:
        Unmatched: it is neither, or of a lesson that was not asked for.

    """
    if found.claim.plain_file in {n for names in request.companions.values() for n in names}:
        return None
    if is_archive(found.file.path):
        raise Unmatched("it is an archive in the archive: ask for the notebook itself")
    if not found.claim.file.lower().endswith(".ipynb"):
        raise Unmatched("it is not a notebook (.ipynb)")
    lesson = lesson_of(found.file.path.read_bytes(), course.lessons).name
    wanted = [wanted.name for wanted in request.lessons]
    if lesson not in wanted:
        raise Unmatched(f"it is a notebook of {lesson}, and {', '.join(wanted)} was asked for")
    return lesson


def _set_aside(older: _Found | None, newer: _Found, left: list[Left]) -> None:
    if older is not None:
        reason = f"it is older than {newer.claim.file}, which counts"
        left.append(Left(older.file.entry, reason, older.file.path, is_fault=False))


def _files(
    request: Request, key: tuple[str, str], found: _Found, beside: Sequence[_Found]
) -> dict[str, Path]:
    """Return what a hand-in consists of; of several files of one name the newest counts."""
    student, lesson = key
    names = request.companions.get(lesson, ())
    others = {
        other.claim.plain_file: other.file.path
        for other in beside
        if other.student == student and other.claim.plain_file in names
    }
    return {f"{lesson}.ipynb": found.file.path} | others


def _note_unused(
    beside: Sequence[_Found], files: Iterable[Mapping[str, Path]], left: list[Left]
) -> None:
    used = {path for hand_in in files for path in hand_in.values()}
    for found in beside:
        if found.file.path not in used:
            reason = "it is older than another of its name, or no notebook came with it"
            left.append(Left(found.file.entry, reason, found.file.path))


def _hand_in(
    system: str,
    key: tuple[str, str],
    found: _Found,
    files: Mapping[str, Path],
    due: datetime | None,
) -> HandIn:
    late = found.claim.late if system == "canvas" else None  # Moodle's names say nothing of it
    return HandIn(*key, files, found.file.time, due, late, found.claim.order, found.file.entry)


def _deadlines(course: GradingCourse, lessons: Iterable[str]) -> dict[str, datetime | None]:
    """Return lesson -> when it is due, as the gradebook says."""
    due: dict[str, datetime | None] = {}
    with course.gradebook() as gradebook:
        for lesson in lessons:
            try:
                date = gradebook.find_assignment(lesson).duedate
            except MissingEntry:
                date = None
            due[lesson] = date and date.replace(tzinfo=UTC)
    return due


def _stored(
    course: GradingCourse, system: str, hand_ins: Sequence[HandIn], left: list[Left]
) -> dict[tuple[str, str, bool], Stored]:
    """Store hand-ins; one that cannot be stored is left over, and the others go on."""
    stored: dict[tuple[str, str, bool], Stored] = {}
    records: dict[str, Records] = {}
    for hand_in in hand_ins:
        lesson = hand_in.lesson
        known = records.setdefault(lesson, Records(course.folder, system, lesson))
        try:
            outcome = store(course.folder, hand_in, known)
        except (CourseError, OSError) as error:
            left.append(Left(hand_in.entry, str(error), hand_in.files[f"{lesson}.ipynb"]))
            continue
        stored[hand_in.student, lesson, hand_in.is_late] = outcome
        if outcome == Stored.OLDER:
            path = hand_in.files[f"{lesson}.ipynb"]
            left.append(Left(hand_in.entry, f"it is {outcome}", path, is_fault=False))
    for known in records.values():
        known.save()
    return stored


def told(collected: Collected) -> str:
    """Return how many hand-ins became what, on one line."""
    counts = Counter(collected.stored.values())
    late = sum(is_late for _, _, is_late in collected.stored)
    parts = [f"{counts[outcome]} {outcome}" for outcome in Stored if counts[outcome]]
    return (", ".join(parts) or "none") + (f"; {late} late" if late else "")

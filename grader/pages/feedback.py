"""Feedback pages, written where nbgrader releases them from: feedback/<student>/<lesson>/.

A page is written in about 4 ms, so one process does: a second one would take longer to start than
a thousand pages take to write. Each page names what it was made from (the graded copy, the scores
and remarks in the gradebook, dates, the lesson, this package), and is written anew when that
changed, also if nbgrader wrote a page of its own in between.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import structs
from tqdm import tqdm

from grader.course.beside import BOTH, VERDICT
from grader.course.book import Book, Record
from grader.course.course import GradingCourse
from grader.course.graded_copies import MOST_BYTES, copy_at, copy_path, fingerprint, is_entered
from grader.course.hand_in_files import told, unread
from grader.errors import CourseError
from grader.pages.feedback_page import LessonToShow, feedback_page, lesson_to_show, page_text
from grader.pages.rendering import maker
from grader.pages.whole_file import write_whole
from grader.regular_file import Unreadable, read_plain

Submission = tuple[str, str]
_INPUTS: Final = re.compile(rb'<meta name="course-inputs" content="([0-9a-f]{64})">')
_HEAD: Final = 500  # bytes of a page in which its inputs stand


@dataclass(frozen=True)
class _Work:
    """One page: what it is made from."""

    record: Record
    lesson: LessonToShow
    zone: str

    @property
    def student(self) -> str:
        return self.record.student

    @property
    def folder(self) -> Path:
        return self.record.folder

    @property
    def copy(self) -> Path:
        return copy_path(self.folder, self.student, self.lesson.name)

    @property
    def page(self) -> Path:
        name = self.lesson.name
        return self.folder / "feedback" / self.student / name / f"{name}.html"

    @property
    def unread(self) -> str:
        return told(unread(self.folder, self.student, self.lesson.name))

    @property
    def inputs(self) -> str:
        """Identify everything that the page is made from."""
        beside = [_handed_in(self, name) for name in BOTH]
        parts = (_digest(self.copy), beside, self.unread, self.lesson, self.record, self.zone)
        return hashlib.sha256(repr((*parts, maker())).encode()).hexdigest()


def without_page(
    course: GradingCourse, submissions: Sequence[Submission], book: Book
) -> list[Submission]:
    """Return the graded submissions that have no page, or one made from something else."""
    return [
        (work.student, work.lesson.name)
        for work in _works(course, submissions, book)
        if _inputs_of(work.page) != work.inputs
    ]


def write_feedback(course: GradingCourse, submissions: Sequence[Submission], book: Book) -> None:
    """Write a page for each graded submission, with progress.

    Raises:
        CourseError: after the last page; says which could not be written, and why.

    """
    failures = []
    works = list(_works(course, submissions, book))
    for work in tqdm(works, "feedback", unit="page", disable=not works):
        try:
            _write(work)
        except (CourseError, OSError) as error:
            whose = f"{work.student}'s {work.lesson.name}"
            failures.append(f"no feedback could be written for {whose}: {error}")
    if failures:
        raise CourseError("\n".join(failures))


def _works(course: GradingCourse, submissions: Sequence[Submission], book: Book) -> Iterator[_Work]:
    """Yield what is graded, in the order given.

    What an interrupted run had not entered yet is left out: its scores would be others, or none.
    """
    wanted = {name for _, name in submissions}
    lessons = {x.name: lesson_to_show(x) for x in course.lessons if x.name in wanted}
    zone = str(course.config.Exchange.get("timezone", "UTC"))
    for student, name in submissions:
        is_there = name in lessons and copy_path(course.folder, student, name).is_file()
        if is_there and is_entered(course.folder, student, name):
            yield _Work(book.record(student, name), lessons[name], zone)


def _inputs_of(page: Path) -> str:
    """Return what a page says it was made from; "" if there is none, or it is nbgrader's.

    One that cannot be read is made anew.
    """
    with suppress(Unreadable):
        found = _INPUTS.search(read_plain(page, _HEAD) or b"")
        return found[1].decode() if found else ""
    return ""


def _digest(copy: Path) -> str:
    """Identify what is known of a graded copy by its content; "" if it cannot be read."""
    try:
        parts = [read_plain(x, MOST_BYTES + 1) for x in (copy, copy.with_name(VERDICT))]
    except Unreadable:  # whoever reads it to show it tells that
        return ""
    return fingerprint(b"".join(filter(None, parts)))


def _write(work: _Work) -> None:
    copy = work.record.copy or copy_at(work.copy)  # or say why there is none
    copy = structs.replace(copy, notes=(*copy.notes, *filter(None, [work.unread])))
    page = feedback_page(work.record, work.lesson, copy, work.zone)
    folder = work.page.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in BOTH:
        text = _handed_in(work, name)
        if text is not None:
            write_whole(folder / name, text)
    write_whole(work.page, page_text(page, work.inputs).encode("utf-8", "replace"))


def _handed_in(work: _Work, name: str) -> bytes | None:
    """Return a small file that came with the submission, from wherever it can be read.

    The page of a submission that could not be read says so, and is written without it.
    """
    sent = work.folder / "submitted" / work.student / work.lesson.name / name
    for path in (work.copy.parent / name, sent):
        with suppress(Unreadable):
            data = read_plain(path, 256)
            if data is not None:
                return data
    return None

"""Reports, written into report/: one page for the class, and one for each student."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tqdm import tqdm

from grader.authoring.lesson import Lesson
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.graded_copies import copy_at, copy_path, is_entered
from grader.course.notices import absent, not_in_roster
from grader.course.safe_text import line
from grader.errors import CourseError
from grader.pages.class_report import MOST_CAUSES, LessonReport
from grader.pages.feedback_page import (
    FeedbackPage,
    LessonToShow,
    feedback_page,
    lesson_to_show,
)
from grader.pages.published import published
from grader.pages.rendering import render
from grader.pages.similarity import (
    HOW_TO_GET_IT,
    Pair,
    can_compare,
    own_code,
    similar_pairs,
)
from grader.pages.whole_file import write_whole

FOLDER: Final = "report"
HALF_GRADED: Final = "its grading was interrupted; run make grade"
LONGEST: Final = 200  # bytes of an id that is its page's name; a file's may have 255


def write_reports(
    course: GradingCourse, lessons: Sequence[Lesson], book: Book
) -> tuple[Path, list[str]]:
    """Write the class's page and each student's.

    Args:
        course: the course, graded.
        lessons: which of its lessons.
        book: what the gradebook says.

    Returns:
        Where the class's page is, and a sentence for each graded copy that could not be read.

    Raises:
        CourseError: nothing is graded yet, or the disk refuses.

    """
    unread: list[str] = []
    missed = absent(course, book)
    found = [
        _lesson_report(course, book, lesson, missed.get(lesson.name, ()), unread)
        for lesson in lessons
    ]
    reports = [report for report in found if report.pages]
    if not reports:
        raise CourseError("Nothing is graded yet, so there is nothing to report: run make grade.")
    try:
        return _write(course.folder / FOLDER, reports, not_in_roster(course, book)), unread
    except OSError as error:
        raise CourseError(
            f"The report could not be written ({error}). Check that you may write there and that "
            "the disk has room, then run the same command."
        ) from None


def _write(folder: Path, reports: Sequence[LessonReport], strangers: Sequence[str]) -> Path:
    students = sorted({page.student for report in reports for page in report.pages})
    (folder / "students").mkdir(parents=True, exist_ok=True)
    for student in tqdm(students, "report", unit="student"):
        pages = [page for report in reports for page in report.pages if page.student == student]
        text = render("student.html", student=student, pages=pages, inputs="")
        write_whole(folder / "students" / _page_name(student), text.encode("utf-8", "replace"))
    text = render(
        "class.html",
        reports=reports,
        students=students,
        link=lambda student: f"students/{quote(_page_name(student))}",
        most_causes=MOST_CAUSES,
        no_pairs=HOW_TO_GET_IT,
        strangers=strangers,
        inputs="",
    )
    write_whole(folder / "class.html", text.encode("utf-8", "replace"))
    return folder / "class.html"


def _page_name(student: str) -> str:
    """Return a file's name for any id; a long one is cut, and its digest keeps it apart."""
    data = os.fsencode(student)
    if len(data) <= LONGEST:
        return f"{student}.html"
    cut = data[:LONGEST].decode(errors="ignore")
    return f"{cut}-{hashlib.sha256(data).hexdigest()[:16]}.html"


def _lesson_report(
    course: GradingCourse, book: Book, lesson: Lesson, missed: Sequence[str], unread: list[str]
) -> LessonReport:
    shown = lesson_to_show(lesson)
    pages = tuple(_pages(course, book, shown, unread))
    pairs = _pairs(lesson, pages) if can_compare() else None
    return LessonReport(shown, pages, pairs, tuple(missed), _published(lesson, pages))


def _published(lesson: Lesson, pages: Sequence[FeedbackPage]) -> dict[str, tuple[str, ...]]:
    solutions, stubs = {e.id: e.source for e in lesson.exercises}, _stubs(lesson)
    found = (
        (page.student, published({e.id: e.answer.source for e in page.exercises}, solutions, stubs))
        for page in pages
    )
    return {student: exercises for student, exercises in found if exercises}


def _pages(
    course: GradingCourse, book: Book, lesson: LessonToShow, unread: list[str]
) -> Iterator[FeedbackPage]:
    zone = str(course.config.Exchange.get("timezone", "UTC"))
    found = sorted((course.folder / "autograded").glob(f"*/{lesson.name}/{lesson.name}.ipynb"))
    for student in (path.parts[-3] for path in found):
        record = book.record(student, lesson.name)
        if not is_entered(course.folder, student, lesson.name):
            unread.append(f"{line(student)}'s {lesson.name} is left out: {HALF_GRADED}")
            continue
        try:
            copy = record.copy or copy_at(copy_path(course.folder, student, lesson.name))
        except CourseError as error:
            unread.append(f"{line(student)}'s {lesson.name} is left out: {error}")
        else:
            yield feedback_page(record, lesson, copy, zone)


def _pairs(lesson: Lesson, pages: Sequence[FeedbackPage]) -> tuple[Pair, ...]:
    stubs = _stubs(lesson)
    codes = {
        page.student: own_code({e.id: e.answer.source for e in page.exercises}, stubs)
        for page in pages
    }
    return tuple(similar_pairs(codes))


def _stubs(lesson: Lesson) -> dict[str, str]:
    """Return what students were given in each exercise's cell; nothing if it is not built."""
    try:
        cells = json.loads(lesson.release_path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        return {}
    return {cell["id"]: "".join(cell["source"]) for cell in cells}

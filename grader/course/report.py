"""The gradebook as a table: whole in a file, and on the terminal for the demo."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.authoring.files import write_if_changed
from grader.authoring.lesson import Lesson
from grader.course.book import Book, Record
from grader.course.course import GradingCourse
from grader.course.graded_copies import GRADED
from grader.course.safe_text import line
from grader.course.wording import span

FOLDER: Final = "report"
GRADES: Final = "grades.txt"


def write_report(course: GradingCourse, book: Book) -> Path:
    """Write the table into report/grades.txt, in one step, and return the file."""
    path = course.folder / FOLDER / GRADES
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_if_changed(path, table(course.lessons, book) + "\n")
    return path


def table(lessons: Sequence[Lesson], book: Book) -> str:
    """Return every graded lesson as a table, then the mistakes that were named."""
    blocks = [_lesson_table(lesson, book.of(lesson.name)) for lesson in lessons]
    named = [
        line(f"{record.student}, {mistake.exercise}: {mistake.message}")
        for lesson in lessons
        for record in book.of(lesson.name)
        for mistake in (record.copy.mistakes if record.copy is not None else ())
    ]
    mistakes = "\n".join(["Mistakes named", *named]) if named else ""
    return "\n\n".join(filter(None, [*blocks, mistakes]))


def _lesson_table(lesson: Lesson, found: Sequence[Record]) -> str:
    if not found:
        return ""
    width = max(len(line(record.student)) for record in found) + 2
    letters = [chr(ord("a") + i) for i in range(len(lesson.exercises))]
    head = "".ljust(width) + "".join(letter.rjust(6) for letter in letters) + "total".rjust(12)
    lines = [f"{line(record.student):<{width}}{_scores(record, lesson)}" for record in found]
    legend = [f"{k} {e.id} ({e.points:g})" for k, e in zip(letters, lesson.exercises, strict=True)]
    return "\n".join([lesson.name, head, *lines, *_wrapped(legend)])


def _scores(record: Record, lesson: Lesson) -> str:
    """Return scores and total, and a status other than "graded"; our failures show no zero."""
    names = [exercise.id for exercise in lesson.exercises]
    if not record.has_score:
        return f"{'':{6 * len(names)}}{record.status:>12}"
    scores = "".join(f"{record.scores.get(name, 0.0):6g}" for name in names)
    told = "" if record.status == GRADED else f"   {record.status}"
    return f"{scores}{record.total:>7g} of {lesson.points:g}{told}{lateness(record)}"


def lateness(record: Record) -> str:
    """Say how late a submission was and what that cost; nothing if it was on time."""
    if not record.late_by:
        return ""
    how = f"{span(record.late_by)} late" if record.is_day_known else "not known how late"
    return f"   {how}: -{record.penalty:g}"


def _wrapped(items: list[str], width: int = 88) -> list[str]:
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > width:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + item
    return lines

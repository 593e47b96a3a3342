"""Show a class as tables: all scores, in a file; the whole at a glance, on the terminal."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Final

from grader.authoring.files import write_if_changed
from grader.authoring.lesson import Lesson
from grader.course.book import Book, Record
from grader.course.course import GradingCourse
from grader.course.graded_copies import GRADED
from grader.course.notices import absent, misplaced, notices
from grader.course.safe_text import few, line
from grader.course.wording import first, span

FOLDER: Final = "report"
GRADES: Final = "grades.txt"
MOST_LESSONS: Final = 7
MOST_NAMED: Final = 8
MOST_ABSENT: Final = 3
MOST_REASONS: Final = 2  # lines
MOST_REASON: Final = 180  # characters
MALFORMED: Final = "malformed"


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


def summary(course: GradingCourse, book: Book) -> list[str]:
    """Return counts by status, the lessons' means, and who needs a look, in at most 40 lines."""
    missed = absent(course, book)
    lessons = [x for x in course.lessons if book.of(x.name)]
    found = [record for lesson in lessons for record in book.of(lesson.name)]
    told = _to_look_at(found, [*misplaced(course), *notices(course, book)])
    if not found:
        return ["Nothing is graded yet.", *told]
    lines = [f"{'':28}{'graded':>6}{'late':>6}{'mean':>9}"]
    for lesson in lessons[:MOST_LESSONS]:
        lines.append(_line(lesson, book.of(lesson.name), missed.get(lesson.name, ())))
    more = len(lessons) - MOST_LESSONS
    lines += [f"... and {more} lessons more"] if more > 0 else []
    counts = Counter(record.status for record in found).most_common()
    statuses = ", ".join(f"{count} {status}" for status, count in counts)
    return [*lines, f"Submissions: {statuses}.", *told]


def _line(lesson: Lesson, found: Sequence[Record], missed: Sequence[str]) -> str:
    """Return how many submitted and were late, the mean, and who submitted nothing."""
    totals = [record.total for record in found if record.has_score]
    mean = f"{sum(totals) / len(totals):.2f}" if totals else "-"
    late = sum(bool(record.late_by) for record in found)
    told = f"{lesson.name:<28}{len(found):>6}{late:>6}{mean:>9}"
    names = few(missed, MOST_ABSENT)
    rest = f"   nothing handed in: {names}" if names else ""
    return f"{told} of {lesson.points:g}{rest}"


def _to_look_at(found: Sequence[Record], noticed: list[str]) -> list[str]:
    """Return what was noticed, and a line for each status but "graded", with the first names."""
    by_status: dict[str, list[Record]] = defaultdict(list)
    for record in found:
        if record.status != GRADED:
            by_status[record.status].append(record)
    lines = ["Needs a look:"] if by_status or noticed else []
    for status, those in by_status.items():
        lines.append(f"  {status}: {first([_whose(record) for record in those], MOST_NAMED)}")
        lines += _reasons(those) if status == MALFORMED else []
    return [*lines, *(f"  {notice}" for notice in noticed)]


def _whose(record: Record) -> str:
    return f"{line(record.student)} {record.lesson}"


def _reasons(malformed: Sequence[Record]) -> list[str]:
    """Return lines on why hand-ins are malformed: of many, the first and where the others' are."""
    told = [
        f"    {_whose(record)}: {line(shorten(record.copy.notes[0], MOST_REASON))}"
        for record in malformed
        if record.copy is not None and record.copy.notes
    ]
    if len(told) > MOST_REASONS:
        rest = len(told) - MOST_REASONS + 1
        told[MOST_REASONS - 1 :] = [f"    and {rest} more, whose feedback pages say why"]
    return told

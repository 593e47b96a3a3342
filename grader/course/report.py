"""The gradebook as a table: whole in a file, and on the terminal for the demo."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from nbgrader.api import (
    Assignment,
    Grade,
    GradeCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from grader.authoring.files import write_if_changed
from grader.authoring.lesson import Lesson
from grader.course.course import GradingCourse
from grader.course.graded_copies import GradedCopy, read_copy
from grader.course.hand_in_time import unknown_days
from grader.course.penalties import seconds_late
from grader.course.queries import scores_of_all
from grader.course.safe_text import line
from grader.course.wording import span

FOLDER: Final = "report"
GRADES: Final = "grades.txt"


@dataclass(frozen=True)
class Row:
    """One student's scores in one lesson, by exercise.

    Attributes:
        seconds_late: after the due date, an extension included.
        penalty: points taken for that.
        is_day_known: whether these seconds are more than the least that they can be.

    """

    student: str
    scores: dict[str, float]
    seconds_late: float = 0.0
    penalty: float = 0.0
    is_day_known: bool = True

    @property
    def total(self) -> float:
        """The student's points in the lesson, less the late penalty."""
        return max(0.0, sum(self.scores.values()) - self.penalty)


def rows(course: GradingCourse, lesson: Lesson) -> list[Row]:
    """Read a lesson's scores from the gradebook, ordered by student."""
    days = unknown_days(course.folder, [lesson.name])
    with course.gradebook() as gradebook:
        scores: dict[str, dict[str, float]] = {}
        for student, cell, score in _grades(gradebook.db, lesson.name):
            scores.setdefault(student, {})[cell.removeprefix("test_")] = score or 0.0
        return [
            Row(
                s,
                scores.get(s, {}),
                seconds_late(sent),
                penalty or 0.0,
                (s, lesson.name) not in days,
            )
            for s, sent, penalty in _submissions(gradebook.db, lesson.name)
        ]


def _submissions(db: Any, lesson: str) -> Any:
    return (
        db.query(Student.id, SubmittedAssignment, SubmittedNotebook.late_submission_penalty)
        .select_from(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .filter(Assignment.name == lesson)
        .order_by(Student.id)
    )


def _grades(db: Any, lesson: str) -> Any:
    found = scores_of_all(db, Student.id, GradeCell.name, Grade.score)
    return found.filter(Assignment.name == lesson)


def write_report(course: GradingCourse) -> Path:
    """Write the table into report/grades.txt, in one step, and return the file."""
    path = course.folder / FOLDER / GRADES
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_if_changed(path, table(course) + "\n")
    return path


def table(course: GradingCourse) -> str:
    """Return every graded lesson as a table, then the mistakes that were named."""
    found = {lesson.name: rows(course, lesson) for lesson in course.lessons}
    blocks = [_lesson_table(x, found[x.name], course.folder) for x in course.lessons]
    return "\n\n".join(block for block in [*blocks, _mistakes(course, found)] if block)


def _lesson_table(lesson: Lesson, found: list[Row], folder: Path) -> str:
    if not found:
        return ""
    width = max(len(line(row.student)) for row in found) + 2
    names = [exercise.id for exercise in lesson.exercises]
    letters = [chr(ord("a") + i) for i in range(len(names))]
    head = "".ljust(width) + "".join(letter.rjust(6) for letter in letters) + "total".rjust(12)
    lines = [lesson.name, head]
    for row in found:
        copy = read_copy(folder, row.student, lesson.name)
        lines.append(f"{line(row.student):<{width}}{_scores(row, names, lesson.points, copy)}")
    legend = [f"{k} {e.id} ({e.points:g})" for k, e in zip(letters, lesson.exercises, strict=True)]
    return "\n".join([*lines, *_wrapped(legend)])


def _scores(row: Row, names: list[str], points: float, copy: GradedCopy | None) -> str:
    """Return scores and total, and a status other than "graded"; our failures show no zero."""
    status = copy.status if copy is not None else "not graded"
    if status in ("grader error", "not graded"):
        return f"{'':{6 * len(names)}}{status:>12}"
    scores = "".join(f"{row.scores.get(name, 0.0):6g}" for name in names)
    told = "" if status == "graded" else f"   {status}"
    return f"{scores}{row.total:>7g} of {points:g}{told}{lateness(row)}"


def lateness(row: Row) -> str:
    """Say how late a submission was and what that cost; nothing if it was on time."""
    if row.seconds_late <= 0:
        return ""
    how = f"{span(timedelta(seconds=row.seconds_late))} late"
    return f"   {how if row.is_day_known else 'not known how late'}: -{row.penalty:g}"


def _wrapped(items: list[str], width: int = 88) -> list[str]:
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > width:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + item
    return lines


def _mistakes(course: GradingCourse, found: dict[str, list[Row]]) -> str:
    named = [
        line(f"{row.student}, {mistake.exercise}: {mistake.message}")
        for lesson in course.lessons
        for row in found[lesson.name]
        if (copy := read_copy(course.folder, row.student, lesson.name)) is not None
        for mistake in copy.mistakes
    ]
    return "\n".join(["Mistakes named", *named]) if named else ""

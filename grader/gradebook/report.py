"""The gradebook as a table on the terminal."""

from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import MissingEntry

from grader.build.lesson import Lesson
from grader.gradebook.copies import GradedCopy, read_copy
from grader.gradebook.course import GradingCourse


@dataclass(frozen=True)
class Row:
    """One student's scores in one lesson, by exercise."""

    student: str
    scores: dict[str, float]

    @property
    def total(self) -> float:
        """All points of the lesson that the student has."""
        return sum(self.scores.values())


def rows(course: GradingCourse, lesson: Lesson) -> list[Row]:
    """Read a lesson's scores from the gradebook, ordered by student."""
    with course.gradebook() as gradebook:
        try:
            submissions = gradebook.find_assignment(lesson.name).submissions
        except MissingEntry:
            return []
        found = [
            Row(
                submission.student_id,
                {
                    grade.name.removeprefix("test_"): grade.score or 0.0
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                },
            )
            for submission in submissions
        ]
    return sorted(found, key=lambda row: row.student)


def table(course: GradingCourse) -> str:
    """Every graded lesson as a table, then the mistakes that were named."""
    blocks = [_lesson_table(x, rows(course, x), course.folder) for x in course.lessons]
    return "\n\n".join(block for block in [*blocks, _mistakes(course)] if block)


def _lesson_table(lesson: Lesson, found: list[Row], folder: Path) -> str:
    if not found:
        return ""
    width = max(len(row.student) for row in found) + 2
    names = [exercise.id for exercise in lesson.exercises]
    letters = [chr(ord("a") + i) for i in range(len(names))]
    head = "".ljust(width) + "".join(letter.rjust(6) for letter in letters) + "total".rjust(12)
    lines = [lesson.name, head]
    for row in found:
        copy = read_copy(folder, row.student, lesson.name)
        lines.append(f"{row.student:<{width}}{_scores(row, names, lesson.points, copy)}")
    legend = [f"{k} {e.id} ({e.points:g})" for k, e in zip(letters, lesson.exercises, strict=True)]
    return "\n".join([*lines, *_wrapped(legend)])


def _scores(row: Row, names: list[str], points: float, copy: GradedCopy | None) -> str:
    """Scores and total, and the status where it is not plainly "graded"; never a zero for ours."""
    status = copy.status if copy is not None else "not graded"
    if status in ("grader error", "not graded"):
        return f"{'':{6 * len(names)}}{status:>12}"
    scores = "".join(f"{row.scores.get(name, 0.0):6g}" for name in names)
    told = "" if status == "graded" else f"   {status}"
    return f"{scores}{row.total:>7g} of {points:g}{told}"


def _wrapped(items: list[str], width: int = 88) -> list[str]:
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > width:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + item
    return lines


def _mistakes(course: GradingCourse) -> str:
    named = [
        f"{row.student}, {mistake.exercise}: {mistake.says}"
        for lesson in course.lessons
        for row in rows(course, lesson)
        if (copy := read_copy(course.folder, row.student, lesson.name)) is not None
        for mistake in copy.mistakes
    ]
    return "\n".join(["Mistakes named", *named]) if named else ""

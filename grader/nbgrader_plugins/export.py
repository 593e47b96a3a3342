"""nbgrader's table of grades (`nbgrader export`), with each submission's status and lateness.

nbgrader writes ids and names raw: a comma in one shifts the columns, and a name may be a formula.
"""

from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from grader.course.grades import NOT_SUBMITTED, Grade, grades
from grader.course.private import write_private
from grader.course.safe_text import Value, csv_text

COLUMNS: Final = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score", "status", "seconds_late",
)  # fmt: skip


class StatusExportPlugin(ExportPlugin):
    """Add "status" and "seconds_late"; where the grader itself failed, no score is told."""

    def export(self, gradebook: Gradebook) -> None:
        """Write a line for each student and assignment."""
        folder = self._folder(gradebook)
        students = {student.id: student for student in gradebook.students}
        rows = [
            _row(grade, assignment, students[grade.student])
            for assignment in gradebook.assignments
            if assignment.name in (self.assignment or [assignment.name])
            for grade in grades(gradebook, folder, assignment.name)
            if grade.student in (list(map(str, self.student)) or [grade.student])
        ]
        write_private(Path(self.to or "grades.csv"), csv_text([COLUMNS, *rows]))

    def _folder(self, gradebook: Gradebook) -> Path:
        """Return the course's folder; the gradebook may lie elsewhere."""
        course = getattr(self.parent, "coursedir", None)
        return Path(course.root if course else Path(gradebook.engine.url.database).parent)


def _row(grade: Grade, assignment: Any, student: Any) -> list[Value]:
    """Return nbgrader's columns (nothing handed in is 0 there), and the status."""
    failed = grade.score is None and grade.status != NOT_SUBMITTED
    return [
        grade.lesson,
        _shown(assignment.duedate),
        _shown(grade.time),
        grade.student,
        student.last_name,
        student.first_name,
        student.email,
        None if failed else grade.raw,
        grade.penalty,
        None if failed else max(0.0, grade.raw - grade.penalty),
        grade.most,
        grade.status,
        round(grade.late),
    ]


def _shown(time: Any) -> str:
    return "" if time is None else str(time)

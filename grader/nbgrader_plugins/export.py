"""nbgrader's table of grades (`nbgrader export`), with each submission's status and lateness.

nbgrader writes ids and names raw: a comma in one shifts the columns, and a name may be a formula.
"""

from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from grader.course.book import Assigned, Person, Record, exported_status, read_book
from grader.course.graded_copies import FAILED
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
        book = read_book(gradebook, self._folder(gradebook))
        wanted = list(map(str, self.student))
        rows = [
            _row(name, lesson, person, book.records.get((person.id, name)))
            for name, lesson in book.lessons.items()
            if name in (self.assignment or [name])
            for person in book.people.values()
            if person.id in (wanted or [person.id])
        ]
        write_private(Path(self.to or "grades.csv"), csv_text([COLUMNS, *rows]))

    def _folder(self, gradebook: Gradebook) -> Path:
        """Return the course's folder; the gradebook may lie elsewhere."""
        course = getattr(self.parent, "coursedir", None)
        return Path(course.root if course else Path(gradebook.engine.url.database).parent)


def _row(name: str, lesson: Assigned, person: Person, record: Record | None) -> list[Value]:
    """Return nbgrader's columns (nothing handed in is 0 there), and the status."""
    found, status = record or Record(Path(), person.id, name), exported_status(record)
    failed = status == FAILED
    return [
        name,
        _shown(lesson.due),
        _shown(found.handed_in),
        person.id,
        person.last_name,
        person.first_name,
        person.email,
        None if failed else found.raw,
        found.penalty,
        None if failed else found.total,
        lesson.most,
        status,
        round(found.late_by.total_seconds()),
    ]


def _shown(time: Any) -> str:
    return "" if time is None else str(time)

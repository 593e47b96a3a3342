"""Grades in the form of Canvas's gradebook.

Canvas maps a line to a student by its ID, and a column to an assignment by the number in its title;
a title that it does not know makes a new assignment. An empty cell changes nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from grader.course.roster_file import Student, by_keys, folded
from grader.course.safe_text import few, line
from grader.errors import PROGRAM, CourseError
from grader.lms.tables import Column, Row, Table, left_out, points_of, told
from grader.person_table import Line, as_number
from grader.person_table import Table as Exported

HEAD: Final = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS: Final = "Points Possible"
INDENTED: Final = f"    {POINTS}"  # as Canvas writes it
NO_STUDENT: Final = (POINTS, "Manual Posting", "")
# Student's field, Canvas's column: in the order in which they decide whose a line is.
KEYS: Final = (
    ("canvas_user_id", "ID"),
    ("sis_user_id", "SIS User ID"),
    ("sis_login_id", "SIS Login ID"),
    ("id", "SIS Login ID"),
)
NEEDS: Final = (
    "Give Canvas's own exported gradebook, --template canvas.csv, or the class with a column "
    f"canvas_user_id: {PROGRAM} roster class.csv"
)
NEEDS_KEYS: Final = (
    "Give the class with a column canvas_user_id, sis_user_id or sis_login_id, by which its lines "
    f"are known: {PROGRAM} roster class.csv"
)


def new(students: Sequence[Student], columns: Sequence[Column]) -> Table:
    """Return a gradebook made from the roster alone: every column is a new assignment."""
    known = [student for student in students if student.canvas_user_id]
    rows: list[Row] = [
        [*HEAD, *(column.title for column in columns)],
        [INDENTED, "", "", "", "", *(column.most for column in columns)],
    ]
    for s in known:
        first, last = s.names
        name = ", ".join(filter(None, (last, first))) or s.id  # as Canvas sorts it
        ids = [s.canvas_user_id, s.sis_user_id, s.sis_login_id, ""]
        rows.append([name, *ids, *points_of(s.id, columns)])
    notes = ["Without --template, Canvas makes a new assignment for each column."]
    notes += left_out(students, known, "Canvas user id")
    return Table(rows, notes, len(known), NEEDS)


@dataclass(frozen=True)
class Template:
    """Canvas's own exported gradebook.

    Attributes:
        table: what is in the file.
        titles: lesson -> Canvas's title, where the instructor named it.

    """

    table: Exported
    titles: Mapping[str, str]

    def __post_init__(self) -> None:
        """Refuse another file."""
        if not {"Student", "ID"} <= set(self.head):
            raise CourseError(
                "The template is not Canvas's gradebook: it has no columns Student and ID. Export "
                "it in Canvas: Grades, Export."
            )

    @cached_property
    def head(self) -> list[str]:
        """The column titles, Canvas's own written as Canvas does."""
        places = self.table.places({title: (title.lower(),) for title in HEAD})
        own = {place: title for title, place in places.items()}
        return [own.get(place, title) for place, title in enumerate(self.table.titles)]

    def value(self, line: Line, title: str) -> str:
        """Return a line's cell; "" if the file does not have it."""
        return line.cells[self.head.index(title)] if title in self.head else ""

    def title_of(self, column: Column) -> str:
        """Return what Canvas calls a column; an exercise's is new unless it is there.

        Raises:
            CourseError: no assignment, or more than one, can be meant with a lesson.

        """
        if column.exercise:
            return next((x for x in self.head if _without_number(x) == column.title), column.title)
        wanted = self.titles.get(column.lesson)
        fits = [x for x in self.head if x == wanted or (not wanted and _is_of(x, column.lesson))]
        if len(fits) == 1:
            return fits[0]
        raise CourseError(
            f"Which assignment in Canvas is {column.lesson}? Columns that fit: {_named(fits)}. "
            f'Name it with --title "{column.lesson}=TITLE (NUMBER)". Assignments there: '
            f"{_named([x for x in self.head if x != _without_number(x)])}."
        )


def like(template: Template, students: Sequence[Student], columns: Sequence[Column]) -> Table:
    """Return a gradebook with the lines, ids and titles of Canvas's own export.

    Raises:
        CourseError: a lesson's column is not found.

    """
    titles = [template.title_of(column) for column in columns]
    kept = [title for title in HEAD if title in template.head]
    known = by_keys(students, [field for field, _ in KEYS])
    rows: list[Row] = [[*kept, *titles]]
    there: list[str] = []
    strangers: list[str] = []
    notes: list[str] = []
    words: list[str] = []
    for row in template.table.lines:
        about = [template.value(row, title) for title in kept]
        cells = [template.value(row, title) for title in titles]
        keys = [(field, folded(template.value(row, title))) for field, title in KEYS]
        student = next((known[key] for key in keys if key in known), None)
        if about[0] == POINTS:
            most = [
                cell if title in template.head else column.most  # a new column's are ours
                for column, title, cell in zip(columns, titles, cells, strict=True)
            ]
            rows.append([INDENTED, *about[1:], *most])
            notes += _other_points(columns, titles, cells)
        elif about[0] in NO_STUDENT:
            rows.append([*about, *cells])
        elif student is None:
            strangers.append(about[0])
        else:
            there.append(student.id)
            marks = [cell if cell and as_number(cell) is None else "" for cell in cells]
            points = points_of(student.id, columns)
            rows.append([*about, *(m or p for m, p in zip(marks, points, strict=True))])
            words += [f"{m} of {about[0]} in {x}" for m, x in zip(marks, titles, strict=True) if m]
    missing = [student.id for student in students if student.listed and student.id not in there]
    notes += told("In Canvas, not in the roster", strangers)
    notes += told("In the roster, not in Canvas's export", missing)
    notes += told("Left as Canvas has it (clear it there to send points)", words)
    return Table(rows, notes, len(there), NEEDS_KEYS)


def _other_points(
    columns: Sequence[Column], titles: Sequence[str], cells: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each assignment that has other points in Canvas than here."""
    for column, title, cell in zip(columns, titles, cells, strict=True):
        there = as_number(cell)
        if there not in (None, column.most):
            yield (
                f"{line(title)} has {there:g} points in Canvas, and {column.most:g} here: change "
                "it there, for points are written as they are."
            )


def _is_of(title: str, lesson: str) -> bool:
    """Return whether a title such as "02 Attention (4711)" is a lesson's, "02_attention"."""
    return _bare(_without_number(title)) in (_bare(lesson), _bare(lesson.partition("_")[2]))


def _without_number(title: str) -> str:
    return re.sub(r"\s*\(\d+\)$", "", title)


def _bare(title: str) -> str:
    return re.sub(r"[\W_]+", "", title.casefold())


def _named(titles: Sequence[str]) -> str:
    return few(titles, len(titles)) or "none"

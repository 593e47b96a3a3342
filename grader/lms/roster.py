"""Who is in the class: ids, names, and what each learning system calls a student."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from grader.course.roster_file import folded
from grader.course.safe_text import line
from grader.errors import PROGRAM, CourseError

# What no two students may share, or one would get the other's work or grade.
OF_SYSTEMS: Final = (
    "email", "canvas_user_id", "sis_user_id", "sis_login_id", "moodle_id_number",
    "moodle_participant", "github_username",
)  # fmt: skip
OWN: Final = ("id", *OF_SYSTEMS)


@dataclass(frozen=True)
class Student:
    """One student; whatever is not known is empty.

    Attributes:
        id: nbgrader's, and the name of the student's folders.
        name: as a roster writes it, "Last, First" or "First Last", if not in two columns.
        moodle_participant: Moodle's number of the student in one assignment.
        also: other ids under which the student hands in.
        left: "" for who is in the class; else what became of the work of who left it.
        listed: whether a roster has the student, if there is one, and not the gradebook alone.

    """

    id: str
    first_name: str = ""
    last_name: str = ""
    name: str = ""
    email: str = ""
    canvas_user_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    moodle_id_number: str = ""
    moodle_participant: str = ""
    github_username: str = ""
    also: tuple[str, ...] = ()
    left: str = ""
    listed: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """First and last names, as far as they can be told apart."""
        if self.first_name or self.last_name or not self.name:
            return self.first_name, self.last_name
        last, comma, first = self.name.partition(",")
        if comma:
            return first.strip(), last.strip()
        first, _, last = self.name.rpartition(" ")
        return first.strip(), last.strip()


def shared(
    students: Iterable[Student], fields: Sequence[str] = OWN, lines: Sequence[int] = ()
) -> Iterator[str]:
    """Yield a sentence for each id or address that two students have, with the lines they are on.

    Args:
        students: all of them.
        fields: what no two may share.
        lines: in the students' order, if they are of one file.

    """
    listed = list(students)
    for field in fields:
        seen: dict[str, int] = {}
        for place, student in enumerate(listed):
            if value := getattr(student, field):
                before = seen.setdefault(folded(value), place)
                where = f"lines {lines[before]} and {lines[place]}: " if lines else ""
                if before != place:
                    yield f"{where}{field.replace('_', ' ')} {line(value)} belongs to two students"


def by_keys(
    students: Iterable[Student], fields: Sequence[str] = OF_SYSTEMS
) -> dict[tuple[str, str], Student]:
    """Return (field, its folded value) -> student: whose work, line or entry something is."""
    pairs = ((field, student) for student in students for field in fields)
    return {(x, folded(key)): student for x, student in pairs if (key := getattr(student, x))}


def one_of(first: Student, second: Student) -> Student | None:
    """Return the student whom two entries with one id are; None if they say different things."""
    found, other = asdict(first), asdict(second)
    if any(folded(str(found[k])) != folded(str(v)) for k, v in other.items() if v and found[k]):
        return None
    return Student(**other | {name: value for name, value in found.items() if value})


def merged(*rosters: Iterable[Student], own: Sequence[str] = OWN) -> list[Student]:
    """Return the students of several rosters; a later one adds to and corrects an earlier one.

    Args:
        rosters: of which students with equal ids, letter by letter, are one.
        own: what no two may share, large and small letters taken for the same.

    Raises:
        CourseError: together, two students share what only one can have.

    """
    found: dict[str, Student] = {}
    for student in (student for roster in rosters for student in roster):
        before = asdict(found[student.id]) if student.id in found else {}
        now = {name: value for name, value in asdict(student).items() if value}
        found[student.id] = Student(**before | now)
    faults = list(shared(found.values(), own))
    if faults:
        listed = "\n  ".join(faults[:10])
        raise CourseError(
            "The roster does not fit the students who are known already (in the gradebook and in "
            f"lms/roster.json):\n  {listed}\nIds that differ only by case count as one. Correct "
            "the list; or, if an earlier one was wrong, say which id is whose with "
            f"{PROGRAM} roster --rename OLD=NEW, or take out who left with roster --out ID. Then "
            "run the same command."
        )
    return list(found.values())

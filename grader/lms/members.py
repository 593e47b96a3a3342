"""The class as all sources together know it: the gradebook, what we wrote down, a new roster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.notices import not_in_roster
from grader.course.roster_file import OF_SYSTEMS, Student, by_keys, folded, remember, remembered
from grader.course.safe_text import few
from grader.errors import PROGRAM
from grader.lms.class_list import ClassList, merged, read_class


@dataclass(frozen=True)
class Members:
    """The class.

    Attributes:
        students: in the order of their ids.
        doubles: ids in the gradebook that no roster lists, but for one that differs by case.
        notes: sentences on who is left out, and on what the list said.
        book: what the gradebook says.

    """

    students: list[Student]
    doubles: list[str]
    notes: list[str]
    book: Book


def members(course: GradingCourse, roster: Path | None = None) -> Members:
    """Return the class; a roster that is given is remembered, and entered into the gradebook.

    Raises:
        CourseError: the roster is faulty, does not fit what is known, or the gradebook
            cannot be copied before it is changed.

    """
    given = read_class(roster) if roster is not None else None
    before, book = remembered(course.folder), course.book()
    of_gradebook = [Student(**person._asdict()) for person in book.people.values()]
    new = _as_known(given, [*before, *of_gradebook]) if given else []
    given_ids = _ids(new)
    left = {student.id for student in before if student.left}
    gone = [student for student in before if student.id in left - given_ids]
    listed = merged(_joining([x for x in before if x not in gone], new), new)
    found = [student for student in of_gradebook if student.id not in _ids(gone)]
    doubles = _doubles(found, listed)
    known = merged([x for x in found if x.id not in doubles], listed, own=OF_SYSTEMS)
    is_listed = _ids(listed) or _ids(known)
    students = [replace(s, listed=s.id in is_listed) for s in sorted(known, key=lambda s: s.id)]
    if new:
        course.back_up()
        _enter(course, [student for student in students if student.id in given_ids])
        remember(course.folder, [*(s for s in students if s.id in _ids(listed)), *gone])
        book = course.book()
    notes = list(given.notes) if given else []
    if back := sorted(left & given_ids):
        notes.append(f"{few(back)} had left, and is back.")
    notes += [*not_in_roster(course, book), *_on_doubles(doubles, listed)]
    return Members(students, doubles, notes, book)


def _as_known(given: ClassList, known: Sequence[Student]) -> list[Student]:
    """Return a list's students under the ids that they have here already.

    A list without ids of ours knows them by what they are called in a system.
    """
    if given.has_ids:
        return given.students
    lasting = [field for field in OF_SYSTEMS if field != "moodle_participant"]
    ids = {("sis_login_id", folded(student.id)): student for student in known}
    ids |= by_keys(known, lasting)
    found = []
    for student in given.students:
        own = {ids[key].id for key in by_keys([student]) if key in ids}
        found.append(replace(student, id=own.pop()) if len(own) == 1 else student)
    return found


def _joining(before: Sequence[Student], new: Sequence[Student]) -> list[Student]:
    """Return who was known; who is listed again is back, and old numbers make room for new ones.

    Moodle's number of a participant is one assignment's own: another list has others.
    """
    taken = {student.moodle_participant for student in new}
    back = [replace(student, left="") for student in before]
    return [replace(x, moodle_participant="") if x.moodle_participant in taken else x for x in back]


def _ids(students: Sequence[Student]) -> set[str]:
    return {student.id for student in students}


def _doubles(found: Sequence[Student], listed: Sequence[Student]) -> list[str]:
    """Return the ids in the gradebook that stand beside one of the roster's.

    Whoever hands in chooses how the own name is written, so no other's grades may depend on it.
    """
    alike = {folded(student.id) for student in listed}
    return [s.id for s in found if s.id not in _ids(listed) and folded(s.id) in alike]


def _on_doubles(doubles: Sequence[str], listed: Sequence[Student]) -> list[str]:
    if not doubles:
        return []
    wrong = doubles[0]
    right = next(student.id for student in listed if folded(student.id) == folded(wrong))
    return [
        f"Left out, for the roster lists another id that differs only by case: {few(doubles)}. If "
        f"the roster's is wrong, correct it: {PROGRAM} roster --rename {few([f'{right}={wrong}'])}"
        f". If it is right: --rename {few([f'{wrong}={right}'])}."
    ]


def _enter(course: GradingCourse, students: Sequence[Student]) -> None:
    """Write students into nbgrader's gradebook; what a roster does not say stays."""
    with course.gradebook() as gradebook:
        for student in students:
            about = dict(zip(("first_name", "last_name"), student.names, strict=True))
            about |= {"email": student.email, "lms_user_id": student.canvas_user_id}
            gradebook.update_or_create_student(student.id, **{k: v for k, v in about.items() if v})

"""The class as all sources together know it: the gradebook, what we wrote down, a new roster."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from grader.course.absent import not_in_roster
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.private import write_private
from grader.course.roster_file import ROSTER, folded
from grader.errors import PROGRAM, CourseError
from grader.lms.class_list import ClassList, read_class
from grader.lms.roster import OF_SYSTEMS, Student, by_keys, merged
from grader.lms.tables import few


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
    before, book = remembered(course), course.book()
    of_gradebook = [Student(**person._asdict()) for person in book.people.values()]
    new = _as_known(given, [*before, *of_gradebook]) if given else []
    listed = [x for x in merged(_joining(before, new), new) if not x.left or x.id in _ids(new)]
    gone = [student for student in before if student.left and student.id not in _ids(new)]
    found = [student for student in of_gradebook if student.id not in _ids(gone)]
    doubles = _doubles(found, listed)
    others = [student for student in found if student.id not in doubles]
    known = merged(others, listed, own=OF_SYSTEMS)
    is_listed = _ids(listed) or _ids(known)
    students = [replace(s, listed=s.id in is_listed) for s in sorted(known, key=lambda s: s.id)]
    if new:
        course.back_up()
        _enter(course, [student for student in students if student.id in _ids(new)])
        remember(course, [*(s for s in students if s.id in _ids(listed)), *gone])
        book = course.book()
    back = sorted(_ids(new) & {student.id for student in before if student.left})
    notes = [
        *(given.notes if given else []),
        *(f"{few(back)} had left, and is back." for _ in back[:1]),
    ]
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
    taken = {student.moodle_participant for student in new} - {""}
    known = [
        x if x.moodle_participant not in taken else replace(x, moodle_participant="")
        for x in before
    ]
    return [
        replace(x, left="") if x.id in _ids(new) else x
        for x in known
        if not x.left or x.id in _ids(new)
    ]


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


def remembered(course: GradingCourse) -> list[Student]:
    """Read what an earlier roster said; nbgrader's tables have no place for most of it."""
    file = course.folder / ROSTER
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Student])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise CourseError(
            f"{file} cannot be read ({error}). Remove it and give the roster again, with --roster."
        ) from None


def remember(course: GradingCourse, students: Sequence[Student]) -> None:
    """Write down who is in the class, and who left it."""
    entries = [{k: v for k, v in asdict(s).items() if k != "listed"} for s in students]
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    write_private(course.folder / ROSTER, text + "\n")


def _enter(course: GradingCourse, students: Sequence[Student]) -> None:
    """Write students into nbgrader's gradebook; what a roster does not say stays."""
    with course.gradebook() as gradebook:
        for student in students:
            first, last = student.names
            about = {
                "first_name": first,
                "last_name": last,
                "email": student.email,
                "lms_user_id": student.canvas_user_id,
            }
            gradebook.update_or_create_student(student.id, **{k: v for k, v in about.items() if v})

"""Correct who is who: give work that came under another id to its student; take out who left."""

import shutil
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from grader.calendar.deadlines import keep_waiting, waiting_extensions
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.private import private_folder
from grader.course.roster_file import KEPT, REMOVED, Student, remember, remembered
from grader.course.safe_text import line
from grader.errors import CourseError, UsageError, verify_known
from grader.lms.class_list import is_folder_name
from grader.lms.storing import Records

WORK: Final = ("submitted", "autograded", "feedback")


def rename(course: GradingCourse, old: str, new: str) -> str:
    """Say that two ids are one student's, whose id is the new one from now on.

    Returns:
        A sentence on what was done.

    Raises:
        UsageError: neither is in the roster, or both are.
        CourseError: both have work in a lesson.

    """
    entries = {student.id: student for student in remembered(course.folder)}
    book = course.book()
    if old not in entries:
        verify_known("student in the roster", new, sorted(entries))
        verify_known("student", old, _with_work(course, book))
    elif new in entries:
        raise UsageError(
            f"{line(old)} and {line(new)} are both in the roster. Take one out: roster --out ID."
        )
    elif not is_folder_name(new):
        raise UsageError(f"{line(new)} cannot be a student's id: it cannot name a folder.")
    if both := sorted(_lessons(course, book, old) & _lessons(course, book, new)):
        raise CourseError(
            f"{line(old)} and {line(new)} both handed in {', '.join(both)}. Nothing was changed. "
            "Take the one out whose work does not count, roster --out ID --with-work, then run the "
            "same command."
        )
    collected = [  # by which pages go back; read before anything is changed
        Records(course.folder, path.parent.name, path.stem)
        for path in sorted((course.folder / "lms").glob("*/*.json"))
    ]
    course.back_up()
    _move_in_gradebook(course, old, new)
    for folder in WORK:
        _move(course.folder / folder, old, new)
    for records in collected:
        records.rename(old, new)
    own = entries.pop(old) if old in entries else entries[new]
    entries[new] = replace(own, id=new, also=tuple({*own.also, old} - {new}))
    remember(course.folder, [entries[student] for student in sorted(entries)])
    return f"{line(old)} is {line(new)} from now on, also where hand-ins come under the other id."


def take_out(course: GradingCourse, student: str, *, with_work: bool) -> str:
    """Take a student out of the class; the work stays unless it is to go, too.

    Returns:
        A sentence on what was done.

    Raises:
        UsageError: nobody has this id.

    """
    entries, book = {x.id: x for x in remembered(course.folder)}, course.book()
    verify_known("student", student, sorted({*entries, *_with_work(course, book)}))
    course.back_up()
    if with_work:
        for folder in WORK:
            shutil.rmtree(course.folder / folder / student, ignore_errors=True)
    has_work = not with_work and bool(_lessons(course, book, student))
    if not has_work and student in book.people:
        with course.transaction() as gradebook:
            gradebook.remove_student(student)
    entry = entries.get(student, Student(student))
    entries[student] = replace(entry, left=REMOVED if with_work else KEPT)
    remember(course.folder, [entries[x] for x in sorted(entries)])
    told = "The work stays, and is in no export" if has_work else "There is no work of theirs here"
    return f"{line(student)} left the class. {told}. A list that has them again brings them back."


def _with_work(course: GradingCourse, book: Book) -> list[str]:
    return sorted({*book.people, *(student for student, _ in course.submitted())})


def _lessons(course: GradingCourse, book: Book, student: str) -> set[str]:
    """Return the lessons that a student has work in, here or in the gradebook."""
    return {name for who, name in [*book.records, *course.submitted()] if who == student}


def _move_in_gradebook(course: GradingCourse, old: str, new: str) -> None:
    """Give all submissions, extensions included, to the new id, and forget the old one."""
    with course.transaction() as gradebook:
        known = {student.id: student for student in gradebook.students}
        if (before := known.get(old)) is not None:
            about = {x: getattr(before, x) for x in ("first_name", "last_name", "email")}
            after = known.get(new) or gradebook.add_student(new, **about)
            for submission in list(before.submissions):
                submission.student = after
            gradebook.db.flush()
            gradebook.db.refresh(before)
            gradebook.db.delete(before)
    waiting = waiting_extensions(course)
    for students in waiting.values():
        if old in students:
            students.setdefault(new, students.pop(old))
    keep_waiting(course, waiting)


def _move(folder: Path, old: str, new: str) -> None:
    if not (folder / old).is_dir() or (folder / old).is_symlink():
        return
    private_folder(folder / new)
    for path in sorted((folder / old).iterdir()):
        if not (folder / new / path.name).exists():
            path.replace(folder / new / path.name)
    shutil.rmtree(folder / old)

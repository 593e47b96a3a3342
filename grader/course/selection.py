"""Choose the lessons and students that a person types; say where hand-ins belong if none is there.

A mistyped name is told, with the nearest one.
"""

from collections.abc import Collection, Sequence

from grader.course.course import GradingCourse
from grader.course.wording import plural
from grader.errors import PROGRAM, CourseError, verify_known
from grader.gradebook.address import sqlite_file


def chosen_lessons(course: GradingCourse, names: Sequence[str]) -> list[str]:
    """Return the named lessons in the course's order, or all.

    Raises:
        UsageError: there is no such lesson; the message has the nearest name.

    """
    known = [lesson.name for lesson in course.lessons]
    for name in names:
        verify_known("lesson", name, known)
    return [name for name in known if name in (names or known)]


def chosen_submissions(
    course: GradingCourse, lessons: Collection[str], students: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the (student, lesson) of submitted/ in the lessons, of the students or of all.

    Raises:
        UsageError: a student is neither in submitted/ nor in the gradebook.

    """
    there = course.submitted()
    known = sorted({*course.students(), *(student for student, _ in there)}) if students else []
    for name in students:
        verify_known("student", name, known)
    return [(s, n) for s, n in there if n in lessons and s in (students or [s])]


def where_hand_ins_go(course: GradingCourse) -> str:
    """Return where hand-ins are looked for, and how they get there.

    Raises:
        CourseError: the gradebook has hand-ins already, so their folder must have gone.

    """
    folder = course.folder / "submitted"
    file = sqlite_file(course.db_url)  # opening makes one
    is_there = file is None or file.exists()
    if count := len(course.book().records) if is_there else 0:
        state = "has none" if folder.is_dir() else "is missing"
        raise CourseError(
            f"The gradebook has {plural(count, 'hand-in')}, but the folder {folder} {state}. Put "
            "it back where it was, then run the same command."
        )
    lesson = next((lesson.name for lesson in course.lessons), "LESSON")
    return (
        f"Nothing has been submitted yet: no hand-in is in {folder}.\n"
        f"From Canvas or Moodle: {PROGRAM} collect canvas|moodle ZIP puts them there.\n"
        f"By hand: submitted/NAME/LESSON/LESSON.ipynb, such as submitted/ada/{lesson}/"
        f"{lesson}.ipynb.\n"
        "To see grading at work on a made-up class: make demo"
    )

"""Lessons and students as a person types them; a mistyped name is told, with the nearest one."""

from collections.abc import Collection, Iterable, Sequence

from grader.course.course import GradingCourse
from grader.errors import verify_known


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
    verify_students(course, students)
    return [(s, n) for s, n in there if n in lessons and s in (students or [s])]


def verify_students(course: GradingCourse, students: Iterable[str]) -> None:
    """Raise UsageError for a student who is neither in submitted/ nor in the gradebook."""
    wanted = list(students)
    if wanted:
        known = sorted({*course.students(), *(student for student, _ in course.submitted())})
        for name in wanted:
            verify_known("student", name, known)

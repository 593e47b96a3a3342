"""Grades as columns of a table: one for each lesson, and for each exercise if asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.lesson import Lesson
from grader.course.course import GradingCourse
from grader.course.grades import NOT_SUBMITTED, Grade, grades


@dataclass(frozen=True)
class Column:
    """A column of points.

    Attributes:
        title: what it is called in our own tables.
        lesson: whose points these are.
        exercise: its id; "" for the whole lesson.
        most: the points that can be had.
        points: student -> points, for those who have any.

    """

    title: str
    lesson: str
    exercise: str
    most: float
    points: Mapping[str, float]


def all_grades(course: GradingCourse, lessons: Sequence[Lesson]) -> dict[str, list[Grade]]:
    """Return lesson -> grades, of the lessons that were graded."""
    with course.gradebook() as gradebook:
        found = {x.name: grades(gradebook, course.folder, x.name) for x in lessons}
    return {
        name: listed
        for name, listed in found.items()
        if any(grade.status != NOT_SUBMITTED for grade in listed)
    }


def columns(
    lessons: Sequence[Lesson], known: Mapping[str, Sequence[Grade]], *, per_exercise: bool
) -> list[Column]:
    """Return the columns of graded lessons, in order."""
    found: list[Column] = []
    for lesson in (lesson for lesson in lessons if lesson.name in known):
        counted = [grade for grade in known[lesson.name] if grade.score is not None]
        whole = {grade.student: grade.score or 0.0 for grade in counted}
        found.append(Column(lesson.name, lesson.name, "", lesson.points, whole))
        if per_exercise:
            found += [_of_exercise(lesson, e.id, e.points, counted) for e in lesson.exercises]
    return found


def _of_exercise(lesson: Lesson, exercise: str, most: float, counted: Sequence[Grade]) -> Column:
    """Return an exercise's column; a late penalty is the whole lesson's."""
    points = {g.student: g.exercises[exercise] for g in counted if exercise in g.exercises}
    return Column(f"{lesson.name}: {exercise}", lesson.name, exercise, most, points)

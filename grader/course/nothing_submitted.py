"""What to tell where submitted/ has no hand-in: where they belong, or that the folder is gone."""

from grader.course.course import GradingCourse
from grader.course.wording import plural
from grader.errors import PROGRAM, CourseError
from grader.gradebook.address import sqlite_file


def where_hand_ins_go(course: GradingCourse) -> str:
    """Return where hand-ins are looked for, and how they get there.

    Raises:
        CourseError: the gradebook has hand-ins already, so their folder must have gone.

    """
    folder = course.folder / "submitted"
    if count := _in_gradebook(course):
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


def _in_gradebook(course: GradingCourse) -> int:
    """Return how many hand-ins the gradebook knows; a file that is not there yet is not made."""
    file = sqlite_file(course.db_url)
    if file is not None and not file.exists():
        return 0
    return len(course.book().records)

"""`python -m grader release`: hand feedback back to students through the exchange."""

import argparse
from pathlib import Path

from grader.authoring.files import find_root
from grader.commands.arguments import add_choice
from grader.course.course import GradingCourse
from grader.course.handing_back import HandedBack, hand_back
from grader.course.penalties import settle
from grader.course.safe_text import line
from grader.course.selection import chosen_lessons, chosen_submissions
from grader.course.wording import first, plural
from grader.errors import CourseError
from grader.grading.lock import only_grader
from grader.pages.feedback import without_page, write_feedback

MOST_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_choice(parser)
    parser.epilog = (
        "Students fetch their pages with Fetch Feedback in Nbgrader's Assignment List. Nothing is "
        "handed back before this command, and running it again replaces what has changed."
    )


def run(arguments: argparse.Namespace) -> int:
    """Release the pages, say what became of them, and return the exit code.

    Raises:
        CourseError: a page could not be written; all others are released and told by then.

    """
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    lessons = chosen_lessons(course, arguments.lesson)
    chosen = chosen_submissions(course, lessons, arguments.student)
    graded = [(s, n) for s, n in chosen if (course.folder / "autograded" / s / n).is_dir()]
    failure = None
    with only_grader(course.folder, course.db_url):
        if graded:
            settle(course, is_backed_up=False)  # a run that was interrupted set no late penalty
        book = course.book()
        try:
            write_feedback(course, without_page(course, graded, book), book)
        except CourseError as error:
            failure = error
        stale = set(without_page(course, graded, book))  # an old page tells old scores
        done = hand_back(course, [key for key in chosen if key not in stale])
    print("\n".join(_told(course, done)))
    if failure is not None:
        raise failure
    return 1 if done.failures else 0


def _told(course: GradingCourse, done: HandedBack) -> list[str]:
    if not (done.released or done.not_by_exchange or done.not_graded or done.failures):
        return ["Nothing has been submitted yet, so there is no feedback to release."]
    lines = ["No feedback was released."]
    if done.released:
        pages = plural(len(done.released), "page")
        lines = [f"Feedback released: {pages}. Students read them with Fetch"]
        lines += ["Feedback in the Assignment List."]
    if done.not_by_exchange:
        lines.append(
            f"Not handed in through the exchange, so not handed back there: "
            f"{_shown(done.not_by_exchange)}. Their pages are in {course.feedback}."
        )
    if done.not_graded:
        lines.append(f"Not graded yet: {_shown(done.not_graded)}. Run make grade.")
    return [*lines, *done.failures[:MOST_SHOWN]]


def _shown(found: list[tuple[str, str]]) -> str:
    return first([f"{line(student)}'s {lesson}" for student, lesson in found], MOST_SHOWN)

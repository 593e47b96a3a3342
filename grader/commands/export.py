"""`python -m grader export`: grades and feedback in the form that a learning system takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.course.book import Book
from grader.course.course import GradingCourse
from grader.course.private import keep_private, write_private
from grader.course.roster_file import Student
from grader.course.safe_text import csv_text, few, line
from grader.course.wording import plural
from grader.errors import PROGRAM, CourseError
from grader.lms import canvas_table, feedback, tables
from grader.lms.members import members
from grader.person_table import read_table
from utils.lab.lessons import is_lab
from utils.lab.settings import FILE

FEEDBACK = "feedback-zip"
FORMS = ("canvas", "moodle", "csv", FEEDBACK)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    form = f"what to write: {', '.join(FORMS)}"
    parser.add_argument("form", choices=FORMS, metavar="FORM", help=form)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to")
    parser.add_argument(
        "--lesson", action="append", default=[], help="only this one; repeatable; else all graded"
    )
    parser.add_argument("--per-exercise", action="store_true", help="points of each exercise too")
    parser.add_argument("--roster", type=Path, metavar="CSV", help="the class, as for collect")
    parser.add_argument(
        "--template",
        type=Path,
        metavar="CSV",
        help="canvas: its own exported gradebook, so that lines, ids and titles are its own",
    )
    parser.add_argument(
        "--title",
        action="append",
        default=[],
        metavar="LESSON=TITLE",
        help='canvas: which column is a lesson\'s, "02_attention=Homework 2 (4711)"',
    )
    parser.add_argument(
        "--system", choices=feedback.SYSTEMS, help=f"{FEEDBACK}: where the hand-ins came from"
    )
    parser.epilog = (
        "Students who handed in nothing have an empty cell, which changes nothing in Canvas or "
        "Moodle. "
        f"{FEEDBACK} needs one --lesson whose hand-ins were collected from a download."
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file, say what is not in it; return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    chosen = lessons(root, arguments.lesson)
    if arguments.form == FEEDBACK:
        notes, is_whole = _write_feedback(course, chosen, arguments), True
    else:
        notes, is_whole = _write_grades(course, chosen, arguments)
    keep_private(course.folder)
    print("\n".join(notes))
    return 0 if is_whole else 1


def _write_grades(
    course: GradingCourse, chosen: list[Lesson], arguments: argparse.Namespace
) -> tuple[list[str], bool]:
    """Write a table; return what to say, and whether nobody's grades are left out."""
    found = members(course, arguments.roster)
    are_wanted = bool(arguments.lesson) or course.settings.labs
    extra = [] if are_wanted else [each for each in chosen if is_lab(each.name)]
    chosen = [each for each in chosen if each not in extra]
    filled = tables.columns(chosen, found.book, per_exercise=arguments.per_exercise)
    if not filled:
        raise CourseError("Nothing is graded yet, so there is nothing to export: run make grade.")
    table = _table(arguments, chosen, found.students, found.book, filled)
    notes = [*found.notes, *table.notes, *_left_out(extra, found.book)]
    if not table.count:  # a file of headings alone would replace one with grades
        told = "\n".join([f"{arguments.out} was not written: nobody would be in it.", *notes])
        raise CourseError(f"{told}\n{table.needs}")
    write_private(arguments.out, csv_text(table.rows))
    names = dict.fromkeys(column.lesson for column in filled)
    graded = {student for student, lesson in found.book.records if lesson in names}
    return [f"{arguments.out}: {', '.join(names)}.", *notes], graded.isdisjoint(found.doubles)


def _left_out(extra: list[Lesson], book: Book) -> list[str]:
    """Say which labs are graded and not in the table, and how they get there."""
    names = ", ".join(each.name for each in extra if book.of(each.name))
    how = f"Write labs = true into {FILE} for points of labs, or name it: --lesson"
    return [f"Left out, as a lab is extra: {names}. {how}."] if names else []


def _table(
    arguments: argparse.Namespace,
    chosen: list[Lesson],
    students: Sequence[Student],
    book: Book,
    filled: Sequence[tables.Column],
) -> tables.Table:
    """Return the table of the form that is asked for."""
    if arguments.form == "csv":
        return tables.plain(students, book, filled)
    if arguments.form == "moodle":
        return tables.moodle(students, filled)
    if arguments.template is None:
        return canvas_table.new(students, filled)
    titles = _titles(arguments.title, chosen)
    template = canvas_table.Template(read_table(arguments.template), titles)
    return canvas_table.like(template, students, filled)


def _titles(texts: list[str], chosen: list[Lesson]) -> dict[str, str]:
    """Read --title options.

    Raises:
        CourseError: one is not LESSON=TITLE, or names no lesson.

    """
    found = dict(text.partition("=")[::2] for text in texts)
    names = {lesson.name for lesson in chosen}
    for name, title in found.items():
        if not title or name not in names:
            raise CourseError(
                f'--title "{line(name)}={line(title)}": write LESSON=TITLE. Lessons that are '
                f"exported: {', '.join(sorted(names))}."
            )
    return found


def _write_feedback(
    course: GradingCourse, chosen: list[Lesson], arguments: argparse.Namespace
) -> list[str]:
    lesson, system = _source(course, chosen, arguments.system)
    content, missing, count = feedback.feedback_zip(course, system, lesson)
    if not count:
        raise CourseError(f"There is no feedback page for {lesson} yet: run make grade.")
    write_private(arguments.out, content)
    pages = plural(count, "page")
    notes = [f"{arguments.out}: {pages} for {lesson}, named as {system.title()} expects."]
    if missing:
        students = plural(len(missing), "student")
        notes.append(f"No page yet for {students}, run make grade: {few(missing)}")
    return notes


def _source(course: GradingCourse, chosen: list[Lesson], system: str | None) -> tuple[str, str]:
    """Return the lesson and the system to answer.

    Raises:
        CourseError: there are none, or several.

    """
    found = [
        (lesson.name, source)
        for lesson in chosen
        for source in feedback.collected_from(course, lesson.name)
        if system in (None, source)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CourseError(
            "Pages are named after the hand-ins that they answer, and none were collected here: "
            f"{PROGRAM} collect canvas|moodle ZIP."
        )
    several = ", ".join(f"--lesson {lesson} --system {source}" for lesson, source in found)
    raise CourseError(f"One ZIP file answers one download. Choose: {several}.")

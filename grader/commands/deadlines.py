"""`python -m grader deadlines`: set due dates and extensions from a table, or show them."""

import argparse
from datetime import UTC
from pathlib import Path

from grader.authoring.files import find_root
from grader.calendar.deadlines import (
    FORM,
    Row,
    as_local,
    deadlines,
    due_dates,
    read_rows,
    set_deadlines,
)
from grader.calendar.penalties import settle
from grader.course.course import GradingCourse
from grader.course.roster_file import listed, meant_by
from grader.course.safe_text import line
from grader.course.wording import plural
from grader.gradebook.lock import only_grader
from grader.lms.storing import follow_due_dates
from utils.lab.settings import FILE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        f"{FORM}\n\nThe penalty for late work is set in nbgrader_config.py; it takes effect at "
        "once, and at every\nrun of grade."
    )
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE.csv", help="without it, what is set is shown"
    )


def run(arguments: argparse.Namespace) -> int:
    """Set what the file says, then show what holds; return the exit code."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    if arguments.file is not None:
        _set(course, arguments.file)
    known = deadlines(course, course.book())
    for row in known:
        due = "no due date" if row.due is None else as_local(row.due)
        print(f"    {line(row.student)}: {due}" if row.student else f"{row.lesson:<28}{due}")
    print("\n".join(_for_students(course, known)), end="")
    return 0


def _for_students(course: GradingCourse, known: list[Row]) -> list[str]:
    """Return what to write into course.toml if students are shown other dates than these."""
    counts = {r.lesson: r.due.replace(tzinfo=UTC) for r in known if r.due and not r.student}
    if counts == course.settings.due:
        return []
    lines = [f"{lesson} = {due.astimezone().isoformat()}" for lesson, due in counts.items()]
    told = [
        f"Students are shown the dates in {FILE}, which differ. To show these,",
        "write there:",
    ]
    if not (file := course.root / FILE).exists():
        told = [f"Students are shown no dates: there is no {FILE}. To show these,"]
        told += [f"make the file {file} and write there:"]
    return [
        "",
        *told,
        "[due]",
        *lines,
        "",
    ]


def _set(course: GradingCourse, file: Path) -> None:
    rows = read_rows(file, [lesson.name for lesson in course.lessons])
    with only_grader(course.folder, course.db_url):
        unknown = set_deadlines(course, rows)
        follow_due_dates(course.folder, due_dates(course, course.book()))
        n_changed = settle(course, is_backed_up=True)
    print(f"{plural(len(rows), 'row')} set; late penalties changed: {n_changed}.")
    if unknown:
        entries = listed(course.folder)
        why = {student: meant_by(student, entries)[1] for student in unknown}
        told = [line(student) + (f" ({near})" if near else "") for student, near in why.items()]
        print(
            "Nobody of that name has submitted or is in the gradebook yet: "
            f"{', '.join(told)}. "
            "Their extensions wait until they submit."
        )

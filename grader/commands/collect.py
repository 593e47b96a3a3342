"""`python -m grader collect`: take hand-ins from a learning system's download."""

import argparse
from collections import defaultdict
from pathlib import Path

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.course.course import GradingCourse
from grader.course.notices import JUST_LATE
from grader.course.private import keep_private
from grader.course.safe_text import few, line
from grader.course.wording import plural
from grader.errors import CourseError
from grader.gradebook.lock import only_grader
from grader.lms.claims import READERS
from grader.lms.collecting import Collected, Request, collect, told
from grader.lms.members import Members, members
from grader.predictions.record import LESSON as WITH_PREDICTIONS
from utils.treebank import predictions

MOST_SHOWN = 12  # of each kind on the terminal; the folder of what was left over has all
COMPANIONS = {WITH_PREDICTIONS: (predictions.FILE,)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    systems = sorted(READERS)
    origin = f"where the download is from: {', '.join(systems)}"
    parser.add_argument("system", choices=systems, metavar="SYSTEM", help=origin)
    parser.add_argument("zip", type=Path, metavar="ZIP", help="the download of all hand-ins")
    parser.add_argument(
        "--lesson", help="take notebooks of this lesson alone; else each notebook tells its own"
    )
    parser.add_argument(
        "--roster",
        type=Path,
        metavar="CSV",
        help="the class: student_id, name, email, canvas_user_id, sis_user_id, sis_login_id, "
        "moodle_id_number, moodle_participant, as far as you have them; Canvas's own gradebook and "
        "Moodle's list of participants serve too. It is remembered for later calls.",
    )
    parser.epilog = (
        "Notebooks are known by their cells, whatever they are called; a student's newest counts. "
        "Canvas's mark LATE counts for the lesson that most of its notebooks are of, or --lesson, "
        "and as just late. A notebook of nobody, or of no lesson, is kept in lms/unmatched/ with "
        "the reason; what grading does not read is named and not kept. Then grade as usual: make "
        "grade."
    )


def run(arguments: argparse.Namespace) -> int:
    """Collect, say what became of each file; return 1 if somebody has to look at one."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    chosen = lessons(root, [arguments.lesson] if arguments.lesson else [])
    with only_grader(course.folder, course.db_url):  # or it would grade what is half replaced
        collected, found = _collected(course, chosen, arguments)
    keep_private(course.folder)
    print("\n".join([summary(collected, course.folder), *found.notes]))
    return 1 if any(item.is_fault for item in collected.left) else 0


def _collected(
    course: GradingCourse, chosen: list[Lesson], arguments: argparse.Namespace
) -> tuple[Collected, Members]:
    """Collect; only a roster that is given is written into the gradebook.

    Raises:
        CourseError: nobody is in the class, or the download cannot be read.

    """
    found = members(course, arguments.roster)
    if not found.students:
        raise CourseError(
            "No student is known yet, so no file can be matched. Give the class once, with "
            "--roster: a CSV file, or Canvas's own gradebook export."
        )
    request = Request(arguments.system, arguments.zip, chosen, COMPANIONS)
    return collect(course, request, found), found


def summary(collected: Collected, folder: Path) -> str:
    """Return what became of a download, in at most 40 lines."""
    lines = [f"Hand-ins: {told(collected)}."]
    by_lesson: dict[str, int] = defaultdict(int)
    for _, lesson, _ in collected.stored:
        by_lesson[lesson] += 1
    lines += [f"  {lesson}: {count}" for lesson, count in sorted(by_lesson.items())]
    lines += _unknown_days(collected)
    if collected.by_name:
        lines.append(
            f"By name, for the roster has another number of theirs: {few(collected.by_name)}."
        )
    faults = [item for item in collected.left if item.is_fault]
    notes = [item for item in collected.left if not item.is_fault]
    for title, items in (("Not collected", faults), ("Not counted", notes)):
        shown = [f"{line(item.entry)}: {line(item.reason)}" for item in items]
        lines += _listed(f"{title}: {len(items)}", shown)
    if collected.absent:
        absent = plural(len(collected.absent), "student")
        lines.append(f"Nothing from {absent}: {few(collected.absent)}")
    if collected.kept is not None:
        count = sum(item.path is not None for item in collected.left)
        beside = f", {count} of the files beside it" * bool(count)
        lines.append(f"The reasons are in {collected.kept.relative_to(folder)}/reasons.csv{beside}")
    return "\n".join(lines)


def _unknown_days(collected: Collected) -> list[str]:
    """Return lines on late hand-ins of which Canvas does not say when they came."""
    of = f"{collected.slot} alone" if collected.slot else "one lesson alone; name it with --lesson"
    said = {
        True: "Canvas says of these that they are LATE, and not by how much: ",
        None: f"Canvas marks LATE for {of}. Check these by hand, which may be late: ",
    }
    lines = []
    for is_marked, words in said.items():
        who = [f"{s} {n}" for (s, n), x in collected.days.items() if x.is_marked is is_marked]
        lines += [f"{words}{few(who)}. {JUST_LATE}."] if who else []
    return lines


def _listed(title: str, items: list[str]) -> list[str]:
    """Return a title and the first items below it; nothing if there are none."""
    if not items:
        return []
    more = [f"  and {len(items) - MOST_SHOWN} more"] if len(items) > MOST_SHOWN else []
    return [title, *(f"  {item}" for item in items[:MOST_SHOWN]), *more]

"""`python -m grader archive`: keep a class's whole record in one file."""

import argparse
from datetime import datetime
from pathlib import Path

from grader.authoring.files import find_root
from grader.course.archive import Archived, archive
from grader.course.course import GradingCourse
from grader.course.hand_in_files import by_kind
from grader.course.safe_text import few
from grader.course.wording import first_lines, plural
from grader.gradebook.lock import only_grader
from utils.lab.exchange import COURSE_ID

MOST_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no arguments: an archive holds everything."""
    parser.epilog = (
        "Writes archive/NAME-DATE.tar.gz: hand-ins, graded copies, feedback, reports, rosters, the "
        "gradebook, and what judged them, the class's secret included. Of a hand-in it keeps what "
        "grading reads, and tells what it leaves out. It holds names and grades: "
        "keep it as your university's rules ask. A hub's first passwords are left out. Nothing is "
        "removed here."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Write the archive, say what is in it; return 1 if something of a hand-in was unreadable."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    with only_grader(course.folder, course.db_url):
        made = archive(course, f"{COURSE_ID}-{datetime.now().astimezone():%Y-%m-%d}")
    print("\n".join(told(made, course.folder)))
    return 0 if made.is_whole else 1


def told(made: Archived, folder: Path) -> list[str]:
    """Return what an archive holds, as lines."""
    size = made.path.stat().st_size / 1e6
    files = plural(sum(made.counts.values()), "file")
    lines = [f"{made.path.relative_to(folder)}: {files}, {size:.1f} MB, read back whole."]
    lines += [f"  {top or 'gradebook, texts, settings'}: {n}" for top, n in made.counts.items()]
    if not made.has_gradebook:
        lines.append(
            "There is no gradebook yet, so none is in it: run make grade, then this again."
        )
    if made.links:
        lines.append(f"Links are not kept: {few(made.links, MOST_SHOWN)}")
    for alike in by_kind(made.left_out):
        lines += first_lines([f"Not in the archive: {item}." for item in alike])
    return lines

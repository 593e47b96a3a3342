"""`python -m grader predictions`: score the prediction files that students handed in."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from grader.authoring.files import find_root
from grader.calendar.penalties import settle
from grader.course.course import GradingCourse
from grader.course.safe_text import line
from grader.errors import CourseError
from grader.gradebook.lock import only_grader
from grader.pages.feedback import write_feedback
from grader.predictions.reading import Faulty, read_predictions
from grader.predictions.record import LESSON, HandIn, enter
from grader.predictions.scoring import Examination, examine
from grader.regular_file import Unreadable
from utils.errors import UserError
from utils.treebank import loader, predictions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments; COURSE_DATA says where treebanks are, as in the lesson."""
    parser.add_argument(
        "--treebank", metavar="NAME", help="what the class tagged, if not English: Czech-CAC, say"
    )
    parser.epilog = (
        f"Students write {predictions.FILE} with utils.treebank.predictions.write_predictions and "
        f"submit it with {LESSON}. Points are extra credit in the gradebook."
    )


def run(arguments: argparse.Namespace) -> int:
    """Score, enter, show a table, rewrite feedback pages; return 1 if a file cannot be read."""
    root = find_root(Path.cwd())
    course = GradingCourse(root, root)
    files = handed_in(course)
    if not files:
        print(f"Nobody has handed in {predictions.FILE} with {LESSON}.")
        return 0
    examination = examine(_treebank(arguments.treebank))
    hand_ins, unread = assess_all(files, examination)
    with only_grader(course.folder, course.db_url):
        waiting = enter(course, hand_ins, unread)
        settle(course, is_backed_up=True)  # a penalty is a share of the score, points included
        print(table(examination, hand_ins, waiting))
        entered = [(student, LESSON) for student in hand_ins if student not in waiting]
        write_feedback(course, entered, course.book())
    for error in unread.values():
        print(f"Not scored: {line(str(error))}, then run the same command; points stay meanwhile.")
    return 1 if unread else 0


def _treebank(name: str | None) -> loader.Treebank:
    """Load the treebank that students were tested on; the made-up language only if asked for."""
    try:
        treebank = loader.load_treebank(name)
    except (UserError, ValueError, OSError) as error:
        raise CourseError(f"The test sentences could not be loaded: {error}") from None
    if treebank.ceilings is not None and os.environ.get("COURSE_DATA") != loader.MADE_UP:
        raise CourseError(
            "No predictions were scored: the treebank could not be fetched. Go online, or set "
            "COURSE_DATA to its folder. If your class tagged the made-up language, set it to "
            f"{loader.MADE_UP}."
        )
    return treebank


def handed_in(course: GradingCourse) -> dict[str, Path]:
    """Return student -> the file that was submitted, or may have been, in order."""
    homes = sorted((course.folder / "submitted").glob("*"))
    paths = {home.name: home / LESSON / predictions.FILE for home in homes}
    return {student: path for student, path in paths.items() if _may_be_there(path)}


def _may_be_there(path: Path) -> bool:
    """Return whether a file is there, or cannot be looked for: reading it tells why."""
    try:
        return path.exists()
    except OSError:
        return True


def assess_all(
    files: Mapping[str, Path], examination: Examination
) -> tuple[dict[str, HandIn], dict[str, Unreadable]]:
    """Score files by student; return the results, and what could not be read."""
    hand_ins, unread = {}, {}
    for student, path in files.items():
        try:
            hand_ins[student] = assess(path, examination)
        except Unreadable as error:
            unread[student] = error
    return hand_ins, unread


def assess(path: Path, examination: Examination) -> HandIn:
    """Score one file; one that cannot be read is raised as Unreadable."""
    try:
        tagged = read_predictions(path, [len(sentence) for sentence in examination.test])
    except Faulty as error:
        says = f"Your {predictions.FILE} could not be scored, which costs nothing: {error}."
        return HandIn(0, says)
    share = examination.share(tagged)
    points = examination.points(share)
    best = f" (better than {examination.levels[points - 1].message})" if points else ""
    says = f"Your predictions: {share:.1%} of the words are right{best}. Extra credit: {points}"
    return HandIn(points, f"{says} of {len(examination.levels)}.", share > examination.best)


def table(examination: Examination, hand_ins: dict[str, HandIn], waiting: list[str]) -> str:
    """Return what was measured, as a table for the instructor."""
    n_words = sum(map(len, examination.test))
    lines = [
        f"{examination.name}: {len(examination.test)} test sentences, {n_words:,} words",
        f"Marked: more than {examination.best:.1%}, as the best tagger known would get.",
        "Words tagged rightly, and points:",
    ]
    for points, level in enumerate(examination.levels, 1):
        lines.append(f"  above {level.share:.1%} ({level.message}): {points}")
    width = max((len(line(student)) for student in hand_ins), default=0)
    for student, hand_in in hand_ins.items():
        later = "  (not graded yet: run make grade, then this again)" * (student in waiting)
        doubt = "  (above the best known tagger, or nearly perfect: ask how it was made)"
        doubt *= hand_in.doubtful
        lines.append(f"{line(student):<{width}}  {hand_in.message}{doubt}{later}")
    return "\n".join(lines)

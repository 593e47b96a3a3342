"""Feedback pages per second: nbconvert's, as nbgrader writes them, against the course's own.

The same graded copies in one run on one machine, rounds of both in turn.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback

from bench.grading import LESSON, a_class, rate
from grader.course.course import GradingCourse, run_converter
from grader.grading.batch import autograde
from grader.grading.waiting import Submission
from grader.pages.feedback import without_page, write_feedback

ROUNDS, N_STOCK, N_OURS, N_CLASS = 3, 6, 60, 1020
HOSTILE = 64 << 10  # characters of one cell that takes a highlighter quadratic time


def measure() -> dict[str, Any]:
    """Return pages per second, ratios, and what a second look and a hostile cell cost."""
    with tempfile.TemporaryDirectory() as name:
        course = a_class(Path(name), N_OURS)
        submissions = course.submitted()
        autograde(course, submissions, n_jobs=2)
        rounds = [side_by_side(course, submissions) for _ in range(ROUNDS)]
        stock, ours = map(statistics.median, zip(*rounds, strict=True))
        many = [submissions[i % N_OURS] for i in range(N_CLASS)]
        in_one_run = rate(N_CLASS, lambda: write_feedback(course, many, course.book()))
        unchanged = rate(N_OURS, lambda: without_page(course, submissions, course.book()))
        sizes = [len(page(course, one).read_bytes()) >> 10 for one in submissions]
        make_hostile(course, submissions[0])
        hostile = 1 / rate(1, lambda: write_feedback(course, submissions[:1], course.book()))
    return {
        "lesson": LESSON,
        "nbconvert's, pages per second": round(stock, 2),
        "our own, pages per second": round(ours, 1),
        "ratio": round(ours / stock, 1),
        "ratio in each round": [round(ours / stock, 1) for stock, ours in rounds],
        f"our own, pages per second on {N_CLASS} in one run": round(in_one_run, 1),
        "unchanged pages found to be so, per second": round(unchanged, 1),
        "largest page (KiB)": max(sizes),
        f"seconds for a page whose code holds {HOSTILE >> 10} KiB of a.a.a.": round(hostile, 3),
    }


def side_by_side(course: GradingCourse, submissions: list[Submission]) -> tuple[float, float]:
    """Return pages per second of nbgrader's converter and of our own, run in this order."""

    def stock() -> None:
        for student, lesson in submissions[:N_STOCK]:
            run_converter(course.converter(GenerateFeedback, lesson, student), "no page")

    slow = rate(N_STOCK, stock)
    return slow, rate(N_OURS, lambda: write_feedback(course, submissions, course.book()))


def page(course: GradingCourse, submission: Submission) -> Path:
    """Return where a page is."""
    student, lesson = submission
    return course.feedback / student / lesson / f"{lesson}.html"


def make_hostile(course: GradingCourse, submission: Submission) -> None:
    """Put a long cell into a graded copy, in place of an answer."""
    student, lesson = submission
    path = course.folder / "autograded" / student / lesson / f"{lesson}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("def attend(", "a." * (HOSTILE // 2) + "def attend("))

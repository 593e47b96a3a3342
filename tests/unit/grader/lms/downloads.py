"""A small course, its class, and made-up downloads in each learning system's shape."""

import json
import stat
import warnings
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy.exc import SAWarning

from grader.course.course import GradingCourse
from tests.unit.course_files import LESSON_WITHOUT_PLOT, make_course

LESSON = "01_doubling"
NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
DUE = "2026-11-22 18:00:00"

# Names with commas, quotes, umlauts; two of one name; ids that are missing.
ROSTER = """\
student_id,name,email,canvas_user_id,sis_user_id,moodle_id_number,moodle_participant
ada,"Lovelace, Ada",ada@uni.example,11,S1,M1,Participant 71
"b,en",Björn O'Neill,ben@uni.example,12,S2,M2,Participant 72
=cleo,"Quote ""Q"" Cleo",cleo@uni.example,13,S3,M3,Participant 73
dan,Dan Müller,dan@uni.example,14,S4,M4,Participant 74
dan2,Dan Müller,dan2@uni.example,15,S5,M5,Participant 75
eve,Eve Nobody,,,,,
"""


class Item(NamedTuple):
    """A file in a download."""

    content: bytes
    time: datetime = NOON
    mode: int = stat.S_IFREG | 0o644


def notebook(answer: str = "def double(x): return 2 * x", name: str = "double") -> bytes:
    """A notebook of the small course, with its cells known by nbgrader's names."""
    cells = [
        {
            "cell_type": "code", "source": answer, "outputs": [],
            "metadata": {"nbgrader": {"grade_id": name}},
        },
        {"cell_type": "markdown", "source": "notes", "metadata": {}},
    ]  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def write_zip(path: Path, items: Mapping[str, Item | bytes]) -> Path:
    """Write a ZIP file with times as Canvas and Moodle write them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, given in items.items():
            item = given if isinstance(given, Item) else Item(given)
            local = item.time.astimezone()
            entry = zipfile.ZipInfo(name, local.timetuple()[:6])
            entry.external_attr = item.mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, item.content)
    return path


@cache
def empty_gradebook() -> bytes:
    """An empty gradebook, made once: nbgrader starts a program for each new one."""
    with TemporaryDirectory() as folder:
        root = make_course(Path(folder))
        GradingCourse(root, root).gradebook().close()
        return (root / "gradebook.db").read_bytes()


def small_course(folder: Path, roster: str = ROSTER) -> GradingCourse:
    """A course of one small lesson, with its class list beside it."""
    make_course(folder, LESSON_WITHOUT_PLOT)
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    (folder / "gradebook.db").write_bytes(empty_gradebook())
    return GradingCourse(folder, folder)


def with_grades(
    course: GradingCourse, points: Mapping[str, tuple[float, float]], lesson: str = LESSON
) -> None:
    """Enter a lesson with two exercises and points for some students."""
    with course.gradebook() as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own relations warn
        gradebook.add_assignment(lesson)
        gradebook.add_notebook(lesson, lesson)
        for name, most in (("double", 3), ("predict_sum", 0.5)):
            cell = {"max_score": most, "cell_type": "code"}
            gradebook.add_grade_cell(f"test_{name}", lesson, lesson, **cell)
        for student, (one, two) in points.items():
            gradebook.update_or_create_student(student)
            gradebook.add_submission(lesson, student, timestamp="2026-11-22 12:00:00 UTC")
            for name, score in (("double", one), ("predict_sum", two)):
                gradebook.find_grade(f"test_{name}", lesson, lesson, student).auto_score = score
        gradebook.db.commit()

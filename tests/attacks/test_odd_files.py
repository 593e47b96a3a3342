"""Whatever lies in submitted/, each submission touches its own student alone."""

import argparse
import json
import os
import shutil
from pathlib import Path

import pytest

from grader.authoring.sample_class import make_class
from grader.commands.arguments import parse_limits
from grader.commands.autograde import add_arguments, run_engine
from grader.course.course import GradingCourse
from grader.course.graded_copies import read_copy
from grader.errors import CourseError
from grader.grading.batch import Run, autograde
from grader.judging.outcome import Outcome
from grader.reading import own_process
from grader.recording import recording
from grader.workers.pool import Pool
from tests.course.fork_servers import CANNOT_START, cannot_isolate
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = "00_start_here"
FILE = f"{LESSON}.ipynb"
FULL = all_lessons()[LESSON].points
RIGHT = "a right one"
pytestmark = pytest.mark.usefixtures("one_fork_server")


def link_to_another(folder: Path, right: Path) -> None:
    (folder / FILE).symlink_to(right)


def link_to_the_gradebook(folder: Path, right: Path) -> None:
    (folder / FILE).symlink_to(right.parents[3] / "gradebook.db")


def a_loop_of_links(folder: Path, _: Path) -> None:
    (folder / FILE).symlink_to(folder / FILE)


def a_folder_of_that_name(folder: Path, _: Path) -> None:
    (folder / FILE).mkdir()


def a_pipe(folder: Path, _: Path) -> None:
    os.mkfifo(folder / FILE)


def nothing(_folder: Path, _right: Path) -> None:
    """Hand in an empty folder."""


def a_linked_folder(folder: Path, right: Path) -> None:
    folder.rmdir()
    folder.symlink_to(right.parent)


def a_time_that_is_none(folder: Path, _: Path) -> None:
    (folder / "timestamp.txt").write_text("1...h nan", encoding="utf-8")


def a_time_that_is_a_pipe(folder: Path, _: Path) -> None:
    os.mkfifo(folder / "timestamp.txt")


def code_made_to_be_slow(folder: Path, _: Path) -> None:
    cell = {"cell_type": "code", "source": "a.b(c)\n" * 36_000, "metadata": {}}
    (folder / FILE).write_text(json.dumps({"cells": [cell], "nbformat": 4}), encoding="utf-8")


REFUSED = [
    link_to_another, link_to_the_gradebook, a_loop_of_links, a_folder_of_that_name, a_pipe,
    nothing, a_linked_folder, a_time_that_is_none, a_time_that_is_a_pipe,
    code_made_to_be_slow,
]  # fmt: skip
# No gradebook holds the first; PostgreSQL, which ends all with an error, not the second.
NO_IDS = ["\udcff\udcfe", "x" * 129]
OTHER_NAMES = [f"{LESSON} (1).ipynb", f"{LESSON}.ipynb.txt", "mine.json"]
ODD_STUDENTS = ["zoë müller", "a;b'--\"$(x)", ".hidden", "line\nbreak", "x" * 128, "%s"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> tuple[GradingCourse, dict[str, Outcome]]:
    """One run over a right submission, refused ones, and right ones under odd names."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("odd"))
    make_class(course.folder, course.lessons)
    submitted = course.folder / "submitted"
    right = (submitted / "ada" / LESSON / FILE).read_bytes()
    shutil.rmtree(submitted)
    first = submitted / RIGHT / LESSON / FILE
    first.parent.mkdir(parents=True)
    first.write_bytes(right)
    for spoil in REFUSED:
        folder = submitted / spoil.__name__ / LESSON
        folder.mkdir(parents=True)
        spoil(folder, first)
    for student in [*ODD_STUDENTS, *NO_IDS]:
        shutil.copytree(first.parent, submitted / student / LESSON)
    for name in OTHER_NAMES:
        folder = submitted / name / LESSON
        folder.mkdir(parents=True)
        (folder / name).write_bytes(right)
        (folder / "data.csv").touch()
    with pytest.MonkeyPatch.context() as patched:  # a fast machine reads any code in 5 s
        usual = (1, own_process.MORE_MEMORY)
        for function in (own_process.in_own_process, own_process.OwnProcess.__init__):
            patched.setattr(function, "__defaults__", usual)
        outcomes = autograde(course, course.submitted(), n_jobs=2).outcomes
    return course, {student: outcome for (student, _), outcome in outcomes.items()}


@pytest.mark.parametrize("name", [spoil.__name__ for spoil in REFUSED])
def test_what_is_no_plain_file_of_the_right_name_is_malformed_and_told(graded, name: str):
    outcome = graded[1][name]
    assert (outcome.status, outcome.score) == ("malformed", 0.0)
    assert FILE in outcome.notes[0] or "submit it again" in outcome.notes[0]


@pytest.mark.parametrize("student", [RIGHT, *ODD_STUDENTS, *OTHER_NAMES], ids=ascii)
def test_a_right_notebook_is_graded_whatever_the_students_or_its_own_name(graded, student: str):
    course, outcomes = graded
    assert (outcomes[student].status, outcomes[student].score) == ("graded", FULL)
    totals = {row.student: row.total for row in course.book().of(LESSON)}
    assert totals[student] == pytest.approx(FULL)
    assert read_copy(course.folder, student, LESSON).status == "graded"


def test_nothing_of_another_student_is_copied_through_a_link(graded):
    course, _ = graded
    for name in ("link_to_another", "a_linked_folder"):
        text = (course.folder / "autograded" / name / LESSON / FILE).read_text(encoding="utf-8")
        assert "def stable_softmax" not in json.dumps(json.loads(text)["cells"][:5])
        assert "BEGIN SOLUTION" not in text


def test_extra_files_and_unknown_lessons_are_left_alone(tmp_path):
    course = GradingCourse(ROOT, tmp_path)
    make_class(course.folder, course.lessons)
    home = tmp_path / "submitted" / "ada"
    (home / LESSON / "extra.ipynb").write_text("{", encoding="utf-8")
    (home / LESSON / "utils.py").write_text("raise SystemExit", encoding="utf-8")
    (home / "99_unknown").mkdir()
    outcomes = autograde(course, [("ada", LESSON)], n_jobs=1).outcomes
    assert [outcome.score for outcome in outcomes.values()] == [FULL]
    assert ("ada", "99_unknown") not in course.submitted()
    assert not (tmp_path / "autograded" / "ada" / LESSON / "extra.ipynb").exists()


def test_a_copy_that_cannot_be_made_stops_no_others_and_is_told(tmp_path, monkeypatch):
    course = GradingCourse(ROOT, tmp_path)
    make_class(course.folder, course.lessons)
    odd = (tmp_path / "submitted" / "ada" / LESSON / FILE).read_bytes() + b"\n"
    (tmp_path / "submitted" / "finn" / LESSON / FILE).write_bytes(odd)
    usual = recording.graded_notebook

    def stopping(data, *about):
        return 1 / 0 if data == odd else usual(data, *about)

    monkeypatch.setattr(recording, "graded_notebook", stopping)
    found = autograde(course, [("finn", LESSON), ("ada", LESSON)], n_jobs=1).outcomes
    assert (found["ada", LESSON].status, found["ada", LESSON].score) == ("graded", FULL)
    assert (found["finn", LESSON].status, found["finn", LESSON].score) == ("grader error", None)
    assert "ZeroDivisionError" in found["finn", LESSON].notes[0]


@pytest.mark.parametrize("name", NO_IDS, ids=["no text", "too long"])
def test_a_folder_whose_name_no_gradebook_holds_is_left_out_and_said(graded, capsys, name: str):
    course, outcomes = graded
    assert name not in outcomes
    assert run_engine(course, [], parse([])).outcomes == {}
    assert f"submitted/{name!a} is left out" in capsys.readouterr().out


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (cannot_isolate("This machine cannot isolate: no Landlock."), "isolate: no Landlock"),
        (CANNOT_START, "could not start: the lines above say why. Set that right"),
    ],
    ids=["it cannot isolate", "no grading process starts"],
)
def test_a_machine_that_cannot_grade_stops_with_a_sentence(monkeypatch, graded, program, told):
    usual = Pool.__init__.__kwdefaults__
    monkeypatch.setattr(Pool.__init__, "__kwdefaults__", usual | {"program": program})
    with pytest.raises(CourseError, match=told):
        run_engine(graded[0], [(RIGHT, LESSON)], parse(["--regrade"]))


@pytest.mark.parametrize("arguments", [[], ["--no-isolation"]])
def test_grading_unisolated_warns_and_nothing_else_does(arguments, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("grader.commands.autograde.autograde", lambda *_, **__: Run())
    run_engine(GradingCourse(ROOT, tmp_path), [], parse(arguments))
    assert ("with your own rights" in capsys.readouterr().err) == bool(arguments)


@pytest.mark.parametrize("text", ["wall", "wall=0", "wall=x", "disk=3", "memory=-1"])
def test_a_limit_that_is_none_is_refused_with_the_known_ones(text: str):
    with pytest.raises(CourseError, match=r"Write wall=60 or cpu=60 \(seconds\), or memory=2048"):
        parse_limits(text)


def test_limits_are_read_in_seconds_and_mebibytes():
    limits = parse_limits("wall=5,memory=512")
    assert (limits.wall_seconds, limits.memory_bytes) == (5, 512 << 20)

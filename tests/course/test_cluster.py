"""A class graded on workers of this machine: everything as without them, score for score."""

import json
import re
from contextlib import chdir, redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.cli import main
from grader.course.course import GradingCourse
from tests.course.clusters import hand_in, need_isolation, scores_of, submissions
from tests.course.lesson_runs import ROOT

LESSONS = {
    "00_start_here": None,
    "02_attention": ("ben", "dan", "finn"),
}  # a class of six, and some
ODD = {"gil": b"{", "hal": b'{"cells": []}'}  # no notebook; one without an answer
pytestmark = pytest.mark.usefixtures("one_fork_server")  # for what is graded without a cluster
N_HANDED_IN = 6 + 3 + 2 * len(ODD)
TRUE_COURSE = ("solutions", "notebooks", "nbgrader_config.py")


def graded(folder: Path, *words: str) -> SimpleNamespace:
    """Grade the class in a folder by the command line."""
    for name in TRUE_COURSE:
        (folder / name).symlink_to(ROOT / name)
    for lesson, students in LESSONS.items():
        made = submissions(lesson)
        hand_in(folder, {s: made[s] for s in students or made} | ODD, lesson)
    (folder / "course_secret.txt").write_text(sha256(b"of this class").hexdigest())
    out, err = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(["autograde", *words])
    course = GradingCourse(folder, folder)
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue(), course=course)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same class, graded on this machine and on two workers."""
    need_isolation()
    here = graded(tmp_path_factory.mktemp("here"), "--jobs", "2")
    return here, graded(tmp_path_factory.mktemp("there"), "--cluster", "local:2")


def copies(course):
    found = sorted((course.folder / "autograded").rglob("*.ipynb"))
    return {path.relative_to(course.folder): path.read_bytes() for path in found}


def test_scores_on_a_cluster_are_those_of_one_machine(both):
    here, there = both
    for lesson in LESSONS:
        assert scores_of(there.course, lesson) == scores_of(here.course, lesson)
    assert scores_of(there.course, "00_start_here")["ada"]["stable_softmax"] > 0


def test_graded_copies_on_a_cluster_are_those_of_one_machine_byte_for_byte(both):
    here, there = both
    assert copies(there.course) == copies(here.course)
    assert len(copies(there.course)) == N_HANDED_IN
    statuses = [json.loads(copy)["metadata"] for copy in copies(there.course).values()]
    assert "malformed" in str(statuses)


def told(ran):
    return sorted(re.findall(r"\d+ \w+", ran.out))  # statuses come in the order they finish


def test_the_command_ends_and_tells_on_a_cluster_what_it_does_on_one_machine(both):
    here, there = both
    assert there.code == here.code
    assert told(there) == told(here) == ["11 graded", "13 submissions", "2 malformed"]
    assert f"{N_HANDED_IN}/{N_HANDED_IN}" in there.err


def test_what_was_graded_on_a_cluster_is_graded_for_this_machine_too(both, capsys):
    _, there = both
    with chdir(there.course.folder):
        assert main(["autograde"]) == 0
    assert capsys.readouterr().out == f"{N_HANDED_IN} submissions: nothing new.\n"


def test_workers_leave_nothing_in_the_courses_folder(both):
    _, there = both
    assert list((there.course.folder / ".course").glob("jobs-*")) == []

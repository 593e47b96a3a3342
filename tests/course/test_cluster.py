"""A class graded on workers of this machine: everything as without them, score for score."""

from pathlib import Path

import pytest

from grader.cluster.address import Local
from grader.cluster.engine import Cluster
from grader.grading.batch import autograde
from tests.course.clusters import hand_in, need_isolation, scores_of, submissions

LESSONS = ("00_start_here", "02_attention")
ODD = {"gil": b"{", "hal": b'{"cells": []}'}  # no notebook; one without an answer


def classroom(folder: Path) -> object:
    for lesson in LESSONS:
        course = hand_in(folder, submissions(lesson) | ODD, lesson)
    return course


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same class, graded on this machine and on two workers, under one secret."""
    need_isolation()
    here, there = (classroom(tmp_path_factory.mktemp(name)) for name in ("here", "there"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_SECRET", "a secret of this class")
        runs = [
            autograde(here, here.submitted(), n_jobs=2),
            autograde(there, there.submitted(), engine=Cluster(Local(2))),
        ]
    return here, there, runs


def copies(course):
    graded = sorted((course.folder / "autograded").rglob("*.ipynb"))
    return {path.relative_to(course.folder): path.read_bytes() for path in graded}


def test_scores_on_a_cluster_are_those_of_one_machine(both):
    here, there, runs = both
    for lesson in LESSONS:
        assert scores_of(there, lesson) == scores_of(here, lesson)
    assert len(runs[1].outcomes) == len(LESSONS) * 8
    assert {k: o.status for k, o in runs[0].outcomes.items()} == {
        k: o.status for k, o in runs[1].outcomes.items()
    }


def test_graded_copies_on_a_cluster_are_those_of_one_machine_byte_for_byte(both):
    here, there, _ = both
    assert copies(there) == copies(here)
    assert len(copies(there)) == len(LESSONS) * 8


def test_what_was_graded_on_a_cluster_is_graded_for_this_machine_too(both, monkeypatch):
    _, there, _ = both
    monkeypatch.setenv("COURSE_SECRET", "a secret of this class")
    assert autograde(there, there.submitted()).outcomes == {}


def test_a_worker_leaves_nothing_in_the_courses_folder(both):
    _, there, _ = both
    assert list((there.folder / ".course").glob("jobs-*")) == []

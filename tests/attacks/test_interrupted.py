"""Nothing is lost when grading is killed, and nothing is there twice; two graders never meet."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from grader.authoring.sample_class import make_class
from grader.course.course import GradingCourse
from grader.course.graded_copies import read_copy
from grader.errors import CourseError
from grader.gradebook.lock import only_grader
from grader.grading.batch import autograde
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.course.fork_servers import WATCHERS_DIE
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = "00_start_here"
KILLS = 20
# ben's softmax has no shift: one of the idea's five visible cases fails (one of which weighs half),
# one of its three hidden ones (which weighs six), and two of the three demands.
BEN = 2 + round(2 * (3.5 + 2) / (4.5 + 8) * (0.8 + 0.2 / 3), 2)
EXPECTED = {"ada": 4, "ben": BEN, "cleo": 3, "dan": 0, "eve": 3, "finn": 4}
# Graders are copies of a process that has imported all they need and warmed up their fork server:
# kills hit the grading, and not what takes longer before it, where nothing could be lost.
GRADERS = multiprocessing.get_context("forkserver")
GRADERS.set_forkserver_preload([__name__, "tests.attacks.warm_graders"])


@pytest.fixture
def course(tmp_path):
    course = GradingCourse(ROOT, tmp_path)
    make_class(course.folder, course.lessons)
    for path in (tmp_path / "submitted").glob("*/*"):
        if path.name != LESSON:
            shutil.rmtree(path)
    return course


def copies(course: GradingCourse, number: int) -> None:
    """Three more students with the class's notebooks, so that there is always work left."""
    for name in list(EXPECTED)[number % 2 :: 2]:
        target = course.folder / "submitted" / f"{name}-{number}" / LESSON
        shutil.copytree(course.folder / "submitted" / name / LESSON, target)


def warm_up() -> None:
    """Start what graders are copied from, which is no part of the time that one takes."""
    process = GRADERS.Process(target=os.getpid)
    process.start()
    process.join()


def start(course: GradingCourse) -> multiprocessing.Process:
    process = GRADERS.Process(target=autograde, args=(course, course.submitted()))
    process.start()
    return process


def ended_well(process: multiprocessing.Process) -> bool:
    process.join()
    return process.exitcode == 0


def scores(course: GradingCourse) -> dict[str, float]:
    found = course.book().of(LESSON)
    assert len({row.student for row in found}) == len(found)
    return {row.student: row.total for row in found}


def test_a_grader_killed_at_twenty_moments_loses_and_doubles_nothing(course):
    chance = random.Random(4)
    warm_up()
    first = time.monotonic()
    assert ended_well(start(course))
    usual = time.monotonic() - first
    for number in range(KILLS):
        copies(course, number)
        process = start(course)
        time.sleep(chance.uniform(0.1, 1.1) * usual)
        process.kill()
        process.join()
    assert ended_well(start(course))
    found = scores(course)
    assert set(found) == {path.name for path in (course.folder / "submitted").iterdir()}
    for student, total in found.items():
        assert total == pytest.approx(EXPECTED[student.split("-")[0]]), student
        assert read_copy(course.folder, student, LESSON).status == "graded"
    assert not list((course.folder / "autograded").glob("*/.*"))
    assert not list((course.folder / ".course").glob("jobs-*"))


def test_a_killed_worker_costs_its_submission_one_retry(course):
    data = [
        (course.folder / "submitted" / n / LESSON / f"{LESSON}.ipynb").read_bytes()
        for n in EXPECTED
    ]
    with Pool(1, Limits()) as pool:
        items = [Item(notebook, all_lessons()[LESSON]) for notebook in data]
        graded = grade_all(items, pool)
        first = next(graded)
        os.kill(pool.pid, signal.SIGKILL)
        outcomes = dict([first, *graded])
    assert [outcomes[n].score for n in range(6)] == pytest.approx(list(EXPECTED.values()))
    assert {outcome.status for outcome in outcomes.values()} == {"graded"}


def test_a_submission_whose_workers_die_again_and_again_is_given_up_and_gets_no_zero():
    lesson = all_lessons()[LESSON]
    with Pool(1, Limits(), program=WATCHERS_DIE) as pool:
        outcome = dict(grade_all([Item(lesson.release_path.read_bytes(), lesson)], pool))[0]
    assert (outcome.status, outcome.score) == ("grader error", None)
    assert outcome.notes == (
        "The grader failed on this notebook: something ended it again and again. The next run tries "
        "once more.",
    )


def test_a_second_grader_is_refused_while_the_first_is_at_work(course):
    with (
        only_grader(course.folder, course.db_url),
        pytest.raises(CourseError, match=f"process {os.getpid()}"),
    ):
        autograde(course, course.submitted(), n_jobs=1)


# From Python 3.13 on a connection that is collected open is told; this one is nbgrader's.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("one_fork_server")
def test_a_locked_gradebook_is_told_and_nothing_is_half_written(course, monkeypatch):
    course.record(all_lessons()[LESSON])
    holder = sqlite3.connect(course.folder / "gradebook.db", timeout=0.1)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(CourseError, match="gradebook"):
        autograde(course, course.submitted(), n_jobs=1)
    holder.rollback()
    holder.close()
    autograde(course, course.submitted(), n_jobs=1)
    assert scores(course) == pytest.approx(EXPECTED)


@pytest.mark.usefixtures("one_fork_server")
def test_a_folder_that_cannot_be_written_is_told(course, monkeypatch):
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(CourseError, match="No space left"):
            autograde(course, course.submitted(), n_jobs=1)
    assert scores(course) == {}
    autograde(course, course.submitted(), n_jobs=1)
    assert scores(course) == pytest.approx(EXPECTED)

"""Faults of a cluster, each on real processes: every submission is graded once, none is lost."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from grader.cluster.address import Remote
from grader.cluster.engine import Cluster
from grader.cluster.scheduler import Patience
from grader.cluster.versions import versions
from grader.course.graded_copies import is_entered, read_copy
from grader.errors import CourseError
from grader.grading import batch
from grader.grading.batch import autograde
from tests.course.clusters import (
    await_that,
    broken_cluster,
    descendants,
    hand_in,
    is_running,
    many,
    need_isolation,
    scores_of,
    stop,
    submissions,
)
from tests.course.lesson_runs import ROOT

COUNT = 12
pytestmark = pytest.mark.usefixtures("one_fork_server")  # for what is graded without a cluster
SCRIPT = """
import sys
from pathlib import Path
from grader.cluster.address import Remote
from grader.cluster.engine import Cluster
from grader.course.course import GradingCourse
from grader.grading import batch
batch.BATCH = 2
course = GradingCourse(Path(sys.argv[1]), Path(sys.argv[2]))
batch.autograde(course, course.submitted(), engine=Cluster(Remote(sys.argv[3])))
"""
# A disk of its own, which is made full once the worker is up.
SMALL_DISK = 'mount -t tmpfs -o size=256k none "$DISK" && exec "$@"'


@pytest.fixture(scope="module", autouse=True)
def _isolation():
    need_isolation()


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """What one machine gives to the class of six."""
    course = hand_in(tmp_path_factory.mktemp("here"), submissions())
    autograde(course, course.submitted())
    return list(scores_of(course).values())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with broken_cluster(tmp_path_factory.mktemp("cluster"), 3) as cluster:
        yield cluster


@pytest.fixture
def course(tmp_path):
    return hand_in(tmp_path / "course", many(COUNT))


@pytest.fixture
def written(monkeypatch):
    """How often each submission was recorded."""
    counts, real = Counter(), batch.record

    def record(course, graded):
        counts.update(g.student for g in graded)
        return real(course, graded)

    monkeypatch.setattr(batch, "BATCH", 2)
    monkeypatch.setattr(batch, "record", record)
    return counts


def all_right(course, wanted):
    """Whether every student has the scores that one machine gives."""
    found = scores_of(course)
    return found == {f"s{n:03d}": wanted[n % len(wanted)] for n in range(COUNT)}


def graded(course):
    """Which submissions are recorded, and not as the grader's own failure."""
    entered = {key for key in course.submitted() if is_entered(course.folder, *key)}
    copies = {key: read_copy(course.folder, *key) for key in entered}
    return {key for key, copy in copies.items() if copy and copy.status != "grader error"}


def workers_of(nanny):
    return [p for p in descendants(nanny) if is_running(p, "multiprocessing", "spawn_main")]


def test_after_a_killed_client_the_same_command_grades_the_rest_once(cluster, course, wanted):
    words = [sys.executable, "-c", SCRIPT, ROOT, course.folder, cluster.address]
    client = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        await_that(lambda: len(graded(course)) >= 2 or client.poll() is not None, "two graded", 180)
    finally:
        client.kill()
        client.wait()
    before = graded(course)
    assert 2 <= len(before) < COUNT
    run = autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
    assert set(run.outcomes) == set(course.submitted()) - before
    assert all_right(course, wanted)


def test_what_hanging_workers_had_is_graded_elsewhere_once(
    cluster, course, wanted, written, monkeypatch
):
    counted, stopped = batch.record, []

    def record(of, done):
        if not stopped:
            stopped.extend(worker for nanny in cluster.workers[:2] for worker in workers_of(nanny))
            for worker in stopped:
                stop(worker)
        return counted(of, done)

    monkeypatch.setattr(batch, "record", record)
    autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
    assert len(stopped) == 2
    assert all_right(course, wanted)
    assert set(written.values()) == {1}


def test_a_worker_of_another_version_is_refused_and_both_versions_are_named(
    tmp_path, course, wanted, written, capsys
):
    other = tmp_path / "other"
    for folder in ("grader", "utils", "solutions"):
        shutil.copytree(ROOT / folder, other / folder, ignore=shutil.ignore_patterns("*.ipynb"))
    (other / "grader" / "usage.py").write_text("CHANGED = True\n")
    (tmp_path / "cluster").mkdir()
    with broken_cluster(tmp_path / "cluster", 0) as cluster:
        cluster.add_worker(PYTHONPATH=str(other))
        with pytest.raises(CourseError, match="no worker that can grade") as refusal:
            autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
        assert f"and {versions()['course']} here" in str(refusal.value)
        assert written == {}
        cluster.add_worker()
        cluster.await_workers(2)
        autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
    assert "is not used: course is " in capsys.readouterr().err
    assert all_right(course, wanted)
    assert set(written.values()) == {1}


def test_a_worker_with_a_full_disk_grades_nothing_and_the_others_all(
    tmp_path, course, wanted, written, capsys
):
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    if subprocess.run([*own, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    (tmp_path / "cluster").mkdir()
    with broken_cluster(tmp_path / "cluster", 0) as cluster:
        disk = cluster.folder / "worker-1"
        before = [*own, "sh", "-c", SMALL_DISK, "sh"]
        nanny = cluster.add_worker(before=before, DISK=str(disk))
        await_that(lambda: workers_of(nanny), "the worker is up")
        fill(Path(f"/proc/{nanny.pid}/root{disk}/filling"))
        cluster.add_worker()
        cluster.await_workers(2)
        autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
    assert "No space left on device" in capsys.readouterr().err
    assert all_right(course, wanted)
    assert set(written.values()) == {1}


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(b"x" * 512):
            pass


def test_after_a_killed_scheduler_the_same_command_grades_the_rest_once(
    tmp_path, cluster, course, wanted, written, monkeypatch
):
    patience, counted = Patience(scheduler=3), batch.record
    (tmp_path / "first").mkdir()
    with broken_cluster(tmp_path / "first", 1) as first:

        def record(of, done):
            written_now = counted(of, done)
            first.scheduler.kill()
            return written_now

        monkeypatch.setattr(batch, "record", record)
        engine = Cluster(Remote(first.address), patience=patience)
        with pytest.raises(CourseError, match="scheduler does not answer any more"):
            autograde(course, course.submitted(), engine=engine)
        assert 0 < len(graded(course)) < COUNT
    monkeypatch.setattr(batch, "record", counted)
    autograde(course, course.submitted(), engine=Cluster(Remote(cluster.address)))
    assert all_right(course, wanted)
    assert set(written.values()) == {1}

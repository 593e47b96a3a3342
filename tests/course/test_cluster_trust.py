"""What may cross between client and workers, and who may speak: bytes alone, and by certificate."""

import os
import re
import shutil
import subprocess
import textwrap
from functools import partial
from pathlib import Path

import pytest

from grader.cluster.address import Local
from grader.cluster.engine import Cluster
from grader.cluster.scheduler import Patience
from grader.errors import CourseError
from grader.reading.prepared import Item
from tests.course.clusters import LESSON, broken_cluster, hand_in
from tests.course.lesson_runs import ROOT, all_lessons
from tests.forks import GRADER, NEEDED_BY_GRADER, forks

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
BROKEN = [Item(b"no notebook", all_lessons()[LESSON])]
PATIENCE = Patience(scheduler=5)


class Touch:
    """Writes a file where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def returns_object(path, request, patience):
    return Touch(path)


def graded(engine, scratch):
    with engine.opened(1, scratch) as grade:
        return [outcome.status for _, outcome in grade(BROKEN)]


def test_an_object_that_a_worker_returns_is_not_unpickled(tmp_path):
    task = partial(returns_object, str(tmp_path / "touched"))
    with pytest.raises(CourseError, match="no bytes"):
        graded(Cluster(Local(1), task=task, patience=PATIENCE), tmp_path)
    assert not (tmp_path / "touched").exists()


def blocks(kind):
    """The code blocks of a kind on the page."""
    return re.findall(rf"^( *)```{kind}\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)


def set_up(folder):
    """Do what the page says about certificates; return the environment that has its settings."""
    (commands,) = [text for _, text in blocks("") if "openssl" in text]
    ((_, settings),) = [b for b in blocks("yaml") if "ca-file" in b[1]]
    subprocess.run(["sh", "-ec", commands], cwd=folder, check=True, capture_output=True)
    (folder / "dask").mkdir()
    text = textwrap.dedent(settings).replace("/home/grader/tls", str(folder))
    (folder / "dask" / "tls.yaml").write_text(text)
    return {"DASK_CONFIG": str(folder / "dask")}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")
def test_the_pages_certificates_let_the_client_in_and_others_out(tmp_path):
    course, ours, others, none = (tmp_path / name for name in ("course", "ours", "others", "none"))
    for folder in (course, ours, others, none):
        folder.mkdir()
    for name in ("solutions", "notebooks", "nbgrader_config.py"):
        (course / name).symlink_to(ROOT / name)
    hand_in(course, {"gil": b"no notebook"})
    environment = set_up(ours)
    with (
        broken_cluster(tmp_path, 1, **environment) as cluster,
        forks(NEEDED_BY_GRADER, course, os.environ | {"PYTHONPATH": str(ROOT)}) as warm,
    ):
        autograde = partial(warm.run, GRADER, "autograde", "--cluster", cluster.address)
        assert cluster.address.startswith("tls://127.0.0.1:")
        for wrong in (set_up(others), {"DASK_CONFIG": str(none)}):
            ran = autograde(**wrong)
            assert (ran.returncode, ran.stdout) == (1, "")
            assert "Check the certificates that Dask's settings name" in ran.stderr
            assert "Traceback" not in ran.stderr
        ran = autograde(**environment)
        assert ran.stdout == "1 submission: 1 malformed.\n", ran.stderr

"""What may cross between client and workers, and who may speak: bytes alone, and by certificate."""

from functools import partial
from pathlib import Path

import dask
import pytest
from distributed import Security

from grader.cluster.address import Local, Remote
from grader.cluster.engine import Cluster
from grader.cluster.patience import Patience
from grader.errors import CourseError
from grader.grading.reading import Item
from tests.course.clusters import LESSON, broken_cluster
from tests.course.lesson_runs import all_lessons

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


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Folders with the settings that name a certificate, of two authorities that differ."""
    return [written(tmp_path_factory.mktemp(name)) for name in ("ours", "others")]


def written(folder):
    made = Security.temporary()
    parts = {"ca": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in parts.items():
        (folder / f"{name}.pem").write_text(text)
    files = {name: str(folder / f"{name}.pem") for name in parts}
    pair = {"cert": files["cert"], "key": files["key"]}
    return {"ca-file": files["ca"]} | dict.fromkeys(("client", "scheduler", "worker"), pair)


NONE = {"ca-file": None, "client": {"cert": None, "key": None}}


def settings(of):
    return dask.config.set({f"distributed.comm.tls.{name}": value for name, value in of.items()})


def in_environment(of):
    found = {"CA_FILE": of["ca-file"]}
    for role in ("client", "scheduler", "worker"):
        found |= {f"{role.upper()}__{k.upper()}": v for k, v in of[role].items()}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": value for name, value in found.items()}


def test_with_certificates_a_scheduler_is_spoken_to_and_without_them_refused(
    tmp_path, certificates, monkeypatch
):
    ours, others = certificates
    for name, value in in_environment(ours).items():
        monkeypatch.setenv(name, value)
    with broken_cluster(tmp_path, 1, "--protocol", "tls") as cluster:
        assert cluster.address.startswith("tls://")
        engine = Cluster(Remote(cluster.address), patience=PATIENCE)
        with settings(ours):
            assert graded(engine, tmp_path) == ["malformed"]
        for wrong in (others, NONE):
            with (
                settings(wrong),
                pytest.raises(CourseError, match="Check the certificates"),
            ):
                graded(engine, tmp_path)

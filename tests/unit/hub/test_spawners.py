"""The limits under which a student's server runs where there is no systemd."""

import json
import subprocess
import sys

import pytest
from jupyterhub.spawner import LocalProcessSpawner
from traitlets.config import Config

from hub.accounts import AccountError
from hub.spawners import NICENESS, LimitedSpawner, make_account

TELL = """
import json, os, resource
names = ("RLIMIT_DATA", "RLIMIT_NPROC", "RLIMIT_CORE")
print(json.dumps([*(resource.getrlimit(getattr(resource, n)) for n in names), os.nice(0)]))
"""


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands for becoming somebody else, which only root can."""
    names: list[str] = []
    monkeypatch.setattr(
        LocalProcessSpawner, "make_preexec_fn", lambda _, name: lambda: names.append(name)
    )
    return names


def told(**settings: object) -> list[object]:
    """What a process of a student's finds out about itself."""
    spawner = LimitedSpawner(config=Config(LimitedSpawner=settings))
    done = subprocess.run(
        [sys.executable, "-c", TELL],
        preexec_fn=spawner.make_preexec_fn("ada"),
        capture_output=True,
        check=True,
    )
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.usefixtures("order")
def test_a_process_has_the_limits_that_are_set_and_yields_to_others() -> None:
    memory, processes, core, niceness = told(mem_limit="1G", process_limit=300)
    assert (memory, processes, core) == ([1 << 30] * 2, [300] * 2, [0] * 2)
    assert niceness == min(19, subprocess_niceness() + NICENESS)


def subprocess_niceness() -> int:
    done = subprocess.run(["nice"], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_it_becomes_the_students_after_its_limits_are_set(order: list[str]) -> None:
    limits = LimitedSpawner(config=Config(LimitedSpawner={"mem_limit": "1G"}))
    become = limits.make_preexec_fn("ada")
    assert order == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resource.setrlimit", lambda *_: order.append("limit"))
        patch.setattr("os.nice", lambda _: order.append("nice"))
        become()
    assert order == ["limit", "limit", "limit", "nice", "ada"]


def test_a_server_for_a_name_that_is_no_account_is_refused_before_it_starts() -> None:
    class Spawner:
        class user:  # noqa: N801 (JupyterHub's)
            name = "root"

    with pytest.raises(AccountError):
        make_account(Spawner())

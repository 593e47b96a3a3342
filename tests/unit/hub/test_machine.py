"""What `make hub` asks of a machine before it changes anything."""

import os
import pwd
import re
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.errors import CourseError
from hub import machine
from hub.settings import HubSettings

NO_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a clone to another")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone that belongs to an ordinary account, on a machine that lacks nothing."""
    nobody = pwd.getpwnam("nobody")
    os.chown(tmp_path, nobody.pw_uid, nobody.pw_gid)
    proxy = tmp_path / "proxy"
    proxy.touch()
    monkeypatch.setattr(machine, "PROXY", proxy)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    return tmp_path


@NO_ROOT
def test_a_machine_that_lacks_nothing_is_taken(clone: Path) -> None:
    machine.verify_machine(clone)


@NO_ROOT
@pytest.mark.parametrize("failure", [PermissionError(), None], ids=["no passing", "it fails"])
def test_a_python_that_other_accounts_cannot_run_is_refused_with_what_to_do(
    clone: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception | None
) -> None:
    def run(*_: object, **options: object) -> SimpleNamespace:
        assert options["user"] == "nobody"
        if failure is not None:
            raise failure
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(CourseError, match="Other accounts cannot run") as told:
        machine.verify_machine(clone)
    assert "PYTHON=/usr/bin/python3 make hub" in str(told.value)


@NO_ROOT
def test_a_missing_proxy_is_told_with_the_command_that_brings_it(clone: Path) -> None:
    machine.PROXY.unlink()
    with pytest.raises(CourseError, match=r"sh setup\.sh hub"):
        machine.verify_machine(clone)


@NO_ROOT
def test_a_clone_of_root_is_refused(clone: Path) -> None:
    os.chown(clone, 0, 0)
    with pytest.raises(CourseError, match="grading must not run as root"):
        machine.verify_machine(clone)


def test_an_ordinary_user_is_shown_the_two_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CourseError, match="sudo make hub") as told:
        machine.verify_machine(tmp_path)
    assert "make hub-demo" in str(told.value)


def test_another_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(CourseError, match="needs Linux"):
        machine.verify_machine(tmp_path)


@pytest.mark.parametrize("where", ["127.0.0.1", "0.0.0.0", "127.0.0.2", "::1", "::"])
def test_ports_that_are_taken_are_told_with_the_process_and_its_account(where: str) -> None:
    family = socket.AF_INET6 if ":" in where else socket.AF_INET
    with socket.create_server((where, 0), family=family) as server:
        port = server.getsockname()[1]
        settings = HubSettings(address=f"http://127.0.0.1:{port - 1}")
        who = re.escape(f"(process {os.getpid()} of {pwd.getpwuid(os.getuid()).pw_name})")
        with pytest.raises(CourseError, match=f"Port {port} is taken by '.+' {who}") as told:
            machine.verify_ports(settings)
    assert f"The hub needs {port - 1} to {port + 1}" in str(told.value)
    machine.verify_ports(settings)


@NO_ROOT
def test_a_port_that_a_students_process_holds_is_none_for_it_ends_before_the_hub_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        machine, "members_who_used", lambda _: ["ada", pwd.getpwuid(os.getuid()).pw_name]
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        machine.verify_ports(HubSettings(address=f"http://127.0.0.1:{port}"))


def test_of_a_process_that_cannot_be_seen_it_is_told_that_it_is_anothers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = machine.psutil.net_connections("tcp")
        unseen = [each._replace(pid=None) for each in found]
        monkeypatch.setattr(machine.psutil, "net_connections", lambda _: unseen)
        with pytest.raises(CourseError, match=f"Port {port} is taken by a process of another"):
            machine.verify_ports(HubSettings(address=f"http://127.0.0.1:{port}"))

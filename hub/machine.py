"""What a machine and a clone must have before they can serve a class."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import psutil  # ipykernel needs it, too

from grader.errors import CourseError
from hub.accounts import members_who_used
from hub.configuration import PROXY
from hub.settings import FILE, HubSettings

PORTS: Final = 3  # the proxy for browsers, its control, the hub


def verify_machine(root: Path) -> None:
    """Check what getting ready cannot bring about.

    Raises:
        CourseError: something is missing; the message says what to do.

    """
    if not sys.platform.startswith("linux"):
        raise CourseError("A class's hub needs Linux, for its accounts and limits.")
    if os.geteuid() != 0:
        raise CourseError(
            "A class's hub makes accounts, so root must run it: sudo make hub\n"
            "To look at a hub as an ordinary user: make hub-demo"
        )
    if root.stat().st_uid == 0:
        raise CourseError(
            f"{root} belongs to root, and grading must not run as root. Make an account for who "
            "grades and give it the clone:\n  useradd --create-home --shell /bin/bash grading\n"
            f"  chown -R grading: {root}"
        )
    verify_proxy()
    _verify_python()


def verify_proxy() -> None:
    """Check that the program is there which stands between browsers and servers.

    Raises:
        CourseError: it is not.

    """
    if not PROXY.is_file():
        raise CourseError("The hub's proxy is not installed. Run: sh setup.sh hub")


def _verify_python() -> None:
    """Check that students' accounts can run this Python, wherever it lies."""
    python = Path(sys.executable).resolve()
    probe = [str(python), "-I", "-c", ""]
    try:
        done = subprocess.run(
            probe, user="nobody", cwd="/", env={}, capture_output=True, check=False
        )
        is_reached = done.returncode == 0
    except PermissionError:
        is_reached = False
    if not is_reached:
        raise CourseError(
            f"Other accounts cannot run {python}.\nMake the clone's environment anew with the "
            "system's Python:\n  rm -rf .venv; PYTHON=/usr/bin/python3 make hub"
        )


def verify_ports(settings: HubSettings) -> None:
    """Check that nothing listens where the hub's parts will, but what `make hub` ends itself.

    Raises:
        CourseError: something does; the message says what, and whose it is.

    """
    ours = range(settings.port, settings.port + PORTS)
    found = [
        (each.laddr.port, *_holder(each.pid))
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN and each.laddr.port in ours
    ]
    students = members_who_used(settings.users)
    taken = [
        f"Port {port} is taken by {program}."
        for port, program, who in sorted(found)
        if who not in students
    ]
    if taken:
        raise CourseError(
            f"{' '.join(dict.fromkeys(taken))} The hub needs {ours[0]} to {ours[-1]}. Stop that (a "
            f"hub that still runs?), or take other ports: a class's stand in {FILE}, the demo's "
            "begin at --port."
        )


def _holder(pid: int | None) -> tuple[str, str]:
    """Return what a process is, in words, and its account."""
    if pid is None:
        return "a process of another account", ""
    try:
        process = psutil.Process(pid)
        who = process.username()
        return f"{process.name()!r} (process {pid} of {who})", who
    except psutil.Error:
        return "a process that has just ended", ""

"""What a machine and a clone must have before they can serve a class."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from grader.errors import CourseError
from hub.configuration import PROXY
from hub.settings import HubSettings

PORTS = 4  # the proxy for browsers, its control, the hub, the grading desk


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
    probe = [sys.executable, "-c", "import jupyterhub"]
    try:
        done = subprocess.run(
            probe, user="nobody", cwd="/", env={}, capture_output=True, check=False
        )
        is_reached = done.returncode == 0
    except PermissionError:
        is_reached = False
    if not is_reached:
        raise CourseError(
            f"Other accounts cannot run {sys.executable} ({Path(sys.executable).resolve()}).\n"
            "Put the clone where everyone may pass, such as /srv, and make its environment anew "
            "with the system's Python:\n  rm -rf .venv; PYTHON=/usr/bin/python3 make hub"
        )


def verify_ports(settings: HubSettings) -> None:
    """Check that nothing else listens where the hub's parts will.

    Raises:
        CourseError: something does.

    """
    taken = [p for p in range(settings.port, settings.port + PORTS) if _listens(p)]
    if taken:
        raise CourseError(
            f"Something listens on port {', '.join(map(str, taken))} already: a hub that still "
            f"runs? The hub takes {settings.port} to {settings.port + PORTS - 1}."
        )


def _listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0

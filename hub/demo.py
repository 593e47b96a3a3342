"""A hub to look at: made-up people, one password, everything as who runs it, loopback only."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from jupyterhub.spawner import SimpleLocalProcessSpawner
from traitlets.config import Config

from grader.errors import CourseError
from hub import folders
from hub.configuration import Hub, common
from hub.machine import verify_ports, verify_proxy
from hub.settings import HubSettings

STUDENTS: Final = ("ada", "ben")
INSTRUCTOR: Final = "teacher"
PASSWORD: Final = "look-around"  # for a hub that only this machine reaches
WHO_IS_WHO: Final = (
    f"Log in as {' or '.join(STUDENTS)}, students, or as {INSTRUCTOR}. The password is {PASSWORD}."
)
FOLDER: Final = ".course/hub-demo"
PORT_FILE: Final = "port.json"


def prepare_demo(root: Path, port: int) -> HubSettings:
    """Make the demo anew, and say who is who.

    Raises:
        CourseError: the course cannot be cloned, or a part is missing.

    """
    verify_proxy()
    settings = demo_settings(root, port)
    verify_ports(settings)
    shutil.rmtree(settings.place, ignore_errors=True)
    clone = settings.place / "clone"
    _clone(root, clone)
    folders.make_place(clone, settings)
    folders.serve(clone, settings)
    (settings.state / PORT_FILE).write_text(json.dumps(port))
    print(f"A hub of this machine alone: {settings.address}")
    print(WHO_IS_WHO)
    print(f"Ctrl-C stops it. Everything is in {FOLDER}, and new at each start.")
    return settings


def demo_settings(root: Path, port: int) -> HubSettings:
    """Return the demo's settings."""
    return HubSettings(
        instructors=(INSTRUCTOR,), place=root / FOLDER, address=f"http://127.0.0.1:{port}"
    )


def demo_hub(root: Path) -> Hub:
    """Return the demo that was made last."""
    port = json.loads((demo_settings(root, 0).state / PORT_FILE).read_text())
    settings = demo_settings(root, port)
    return Hub(settings.place / "clone", settings, "", STUDENTS)


def demo_configuration(root: Path) -> Config:
    """Return JupyterHub's configuration: nobody becomes somebody else, no account is made."""
    hub = demo_hub(root)
    config: Any = common(hub)
    config.JupyterHub.authenticator_class = "dummy"
    config.DummyAuthenticator.password = PASSWORD
    config.JupyterHub.template_vars = {"announcement_login": WHO_IS_WHO}
    config.Authenticator.allowed_users = {*STUDENTS, INSTRUCTOR}
    config.JupyterHub.spawner_class = SimpleLocalProcessSpawner
    homes = hub.settings.place / "homes"
    config.SimpleLocalProcessSpawner.home_dir_template = f"{homes}/{{username}}"
    return Config(config)


def _clone(root: Path, target: Path) -> None:
    words = ["git", "clone", "--quiet", str(root), str(target)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"The course could not be cloned: {done.stderr.strip()}")

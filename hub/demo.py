"""A hub to look at: made-up people, a password for its start, all as one account, loopback only."""

import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from jupyterhub.spawner import SimpleLocalProcessSpawner
from traitlets.config import Config

from grader.errors import CourseError
from hub import folders
from hub.accounts import ONLY_OWNER
from hub.configuration import common
from hub.machine import verify_ports, verify_proxy
from hub.passwords import BYTES
from hub.settings import HubSettings

STUDENTS: Final = ("ada", "ben")
WHO_IS_WHO: Final = f"Log in as {' or '.join(STUDENTS)}, students."
FOLDER: Final = ".course/hub-demo"


def prepare_demo(root: Path, port: int) -> tuple[HubSettings, str]:
    """Make the demo anew, and say who is who; return its settings and password.

    Raises:
        CourseError: the course cannot be cloned, or a part is missing.

    """
    verify_proxy()
    settings = HubSettings(place=root / FOLDER, address=f"http://127.0.0.1:{port}")
    verify_ports(settings)
    shutil.rmtree(settings.place, ignore_errors=True)
    clone = settings.place / "clone"
    _clone(root, clone)
    folders.make_place(clone, settings)
    folders.serve(clone, settings)
    settings.place.chmod(ONLY_OWNER)
    # Whoever logs in gets a shell of this account, and every account of the machine can reach it.
    password = secrets.token_urlsafe(BYTES)
    print(f"A hub of this machine alone: {settings.address}")
    print(f"{WHO_IS_WHO} The password of this start is {password}")
    print(f"Ctrl-C stops it. Everything is in {FOLDER}, and new at each start.")
    return settings, password


def demo_configuration(settings: HubSettings, password: str) -> Config:
    """Return JupyterHub's configuration: nobody becomes somebody else, no account is made."""
    config: Any = common(settings, Path(sys.executable))
    config.JupyterHub.authenticator_class = "dummy"
    config.DummyAuthenticator.password = password
    config.JupyterHub.template_vars = {"announcement_login": WHO_IS_WHO}
    config.Authenticator.allowed_users = set(STUDENTS)
    config.JupyterHub.spawner_class = SimpleLocalProcessSpawner
    homes = settings.place / "homes"
    config.SimpleLocalProcessSpawner.home_dir_template = f"{homes}/{{username}}"
    return Config(config)


def _clone(root: Path, target: Path) -> None:
    words = ["git", "clone", "--quiet", str(root), str(target)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"The course could not be cloned: {done.stderr.strip()}")

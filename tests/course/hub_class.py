"""A class's hub with real accounts, as `make hub` starts it on a clone; of that the group stays.

The accounts' names begin with PREFIX, which is another one in each run of tests. Nothing of the
machine's own accounts is touched.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from hub.machine import PORTS
from hub.passwords import FILE as PASSWORDS
from hub.passwords import read_passwords
from hub.settings import FILE, HubSettings
from tests.browser.chrome import wait_for
from tests.browser.jupyterlab import ROOT, free_port
from tests.course.clones import make_clone

PREFIX = f"hubtest-{secrets.token_hex(2)}-"
GRADER = f"{PREFIX}grader"
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
PROXY = ROOT / ".venv/proxy"
RUNNING = "JupyterHub is now running"


def require_accounts() -> str:
    """Give a Python that every account can run; skip where accounts or the proxy cannot be."""
    python = require_users()
    if not shutil.which("useradd"):
        pytest.skip("this machine has no useradd")
    if not (PROXY / "installed").is_file():
        pytest.skip("the hub's proxy is not installed: it needs Node 20 with npm (sh setup.sh hub)")
    return python


def require_users() -> str:
    """Give a Python that every user can run; skip where a test cannot become another user."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("other users' rights are tried as root on Linux")
    for python in (sys.executable, f"/usr/bin/{VERSION}", f"/usr/local/bin/{VERSION}"):
        if is_for_everyone(python):
            return python
    pytest.skip(f"no {VERSION} of this machine can be run by all users with these packages")


def is_for_everyone(python: str) -> bool:
    """Whether an account without rights can run a Python with this checkout's packages."""
    try:
        done = subprocess.run(
            [python, "-c", "import jupyterhub"],
            user="nobody",
            cwd="/",
            env={"PYTHONPATH": packages()},
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def packages() -> str:
    return str(Path(pytest.__file__).resolve().parents[1])


@dataclass(frozen=True)
class HubClass:
    """A clone that GRADER owns, and the settings of its hub."""

    folder: Path
    settings: HubSettings

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    @property
    def python(self) -> str:
        return str(self.clone / ".venv/bin/python")

    @property
    def address(self) -> str:
        """Where browsers find the hub."""
        return self.settings.subdomain_host or self.settings.address

    @property
    def log(self) -> Path:
        return self.folder / "hub.log"

    def password(self, name: str) -> str:
        return read_passwords(self.clone / PASSWORDS)[name]

    def run(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command as an account, with nothing of this process's environment."""
        account = pwd.getpwnam(name)
        ours = self.clone / ".venv" if name == GRADER else self.settings.environment
        path = f"{ours}/bin:/usr/local/bin:/usr/bin:/bin"
        return subprocess.run(
            words,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=os.getgrouplist(name, account.pw_gid),
            cwd=self.clone if name == GRADER else account.pw_dir,
            env={"PATH": path, "HOME": account.pw_dir, "OMP_NUM_THREADS": "1"},
            umask=0o077,
            capture_output=True,
            text=True,
            check=False,
        )

    def grader(self, *words: str) -> str:
        """Run a command of the grader as who grades; give what it printed."""
        done = self.run(GRADER, "python", "-m", "grader", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start `python -m hub` as root, or with words as who grades; it writes into `log`."""
        account = pwd.getpwnam(GRADER if words else "root")
        environment = {**self.environment(), "HOME": account.pw_dir}
        with self.log.open("w") as written:
            return subprocess.Popen(
                [self.python, "-m", "hub", *(words or ("--yes",))],
                cwd=self.clone,
                user=account.pw_uid,
                group=account.pw_gid,
                extra_groups=[],
                env=environment,
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
            )

    def prepare(self) -> subprocess.CompletedProcess[str]:
        """Run `make hub` without its start."""
        return self.root("--yes", "--prepare")

    def root(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `python -m hub` as root."""
        command = [self.python, "-m", "hub", *words]
        return subprocess.run(
            command, cwd=self.clone, env=self.environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        """Root's environment, in which nothing is of this checkout."""
        ours = ("PYTHONPATH", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if name not in ours}
        return kept | {"OMP_NUM_THREADS": "1"}


@contextmanager
def a_class(python: str, students: Sequence[str], domain: str = "") -> Iterator[HubClass]:
    """Make a clone with a roster, owned by an account of its own, for one domain or for many."""
    with tempfile.TemporaryDirectory(prefix="hub-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o711)
        port = free_port(PORTS)
        host = f"http://{domain}:{port}" if domain else ""
        settings = HubSettings(folder / "place", f"http://127.0.0.1:{port}", host)
        made = HubClass(folder, settings)
        try:
            _run("useradd", "--create-home", GRADER)
            _make_clone(made, python, students)
            yield made
        finally:
            remove_accounts()


def _make_clone(made: HubClass, python: str, students: Sequence[str]) -> None:
    made.clone.mkdir()
    make_clone(made.clone)
    told = ("place", "address", "subdomain_host")
    lines = [f'{name} = "{getattr(made.settings, name)}"\n' for name in told]
    (made.clone / FILE).write_text("".join(lines))
    (made.clone / "class.csv").write_text("\n".join(["student_id", *students, ""]))
    _make_environment(made.clone, python)
    _run("chown", "-R", f"{GRADER}:", str(made.clone))
    _run("chmod", "-R", "go=", str(made.clone))  # as whoever grades makes it, by the umask
    if students:
        made.grader("roster", "class.csv")


def _make_environment(clone: Path, python: str) -> None:
    """Make a .venv with every package, less this checkout; see `make_environment` in clones.py."""
    environment = clone / ".venv"
    _run(python, "-m", "venv", "--without-pip", str(environment))
    (environment / f"lib/{VERSION}/site-packages/packages.pth").write_text(packages() + "\n")
    home = Path(packages()).parents[2]
    for part in ("share", "etc"):  # JupyterLab's pages, its and nbgrader's extensions
        shutil.rmtree(environment / part, ignore_errors=True)
        if (home / part).is_dir():
            (environment / part).symlink_to(home / part)
    (environment / "proxy").symlink_to(PROXY)
    program = environment / "bin/alembic"  # nbgrader starts it by its name
    program.write_text(f"#!{environment}/bin/python\nfrom alembic.config import main\nmain()\n")
    program.chmod(0o755)
    settings = (clone / "constraints.txt").read_text() + (clone / "pyproject.toml").read_text()
    (environment / "made-in").write_text(f"{clone}\n")
    (environment / "set-up-grader").write_text(settings)


@contextmanager
def running_hub(made: HubClass, *words: str) -> Iterator[HubClass]:
    """Run `make hub` until the block ends; with words, another hub of the same clone."""
    process = made.start(*words)
    try:
        wait_for(
            lambda: RUNNING in made.log.read_text() or process.poll() is not None, "JupyterHub"
        )
        assert process.poll() is None, made.log.read_text()
        yield made
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=600)
        process.kill()
        process.wait()


def remove_accounts() -> None:
    """End what the accounts still run, and remove them with their homes."""
    for account in [each for each in pwd.getpwall() if each.pw_name.startswith(PREFIX)]:
        _end_processes(account.pw_uid)
        _run("userdel", "--force", "--remove", account.pw_name, may_fail=True)


def _end_processes(uid: int) -> None:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == uid:
                os.kill(int(folder.name), 9)


def _run(*words: str, may_fail: bool = False) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert may_fail or done.returncode == 0, f"{' '.join(words)}: {done.stderr}"

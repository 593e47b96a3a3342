"""A clone of this checkout as if all of it was committed, and an environment without the course."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from tests.unit.course_files import ROOT, STARTUP

AUTHOR = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]


def commit(folder: Path) -> None:
    """Make a folder a repository whose only commit is what git does not ignore of it."""
    for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def make_clone(folder: Path, is_wanted: Callable[[str], bool] = bool) -> Path:
    """Make a repository whose only commit is what git keeps or would keep of this checkout."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(is_wanted, names.splitlines()):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    commit(folder)
    return folder


def make_environment(root: Path, level: str) -> None:
    """Make a .venv that `setup.sh` takes for its own: every package, but not this checkout."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    # Folders that are named here are searched, but the .pth files in them, which name this
    # checkout, are not read.
    where = "lib/python{}.{}/site-packages".format(*sys.version_info)
    (root / ".venv" / where / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (root / ".venv/made-in").write_text(f"{root}\n")
    done = (root / "constraints.txt").read_text() + (root / "pyproject.toml").read_text()
    (root / f".venv/set-up-{level}").write_text(done)


def run(root: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command there, with nothing of this checkout in its environment."""
    return subprocess.run(
        words, cwd=root, env=environment(root) | more, capture_output=True, text=True, check=False
    )


def environment(root: Path) -> dict[str, str]:
    """Give the environment of a person who has nothing but this folder."""
    ours = ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL")  # these tests may run under make themselves
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    # Processes start sooner by what lies there, and can import nothing of this checkout from it.
    more = {"COURSE_DATA": "made-up", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(STARTUP)}
    return kept | more | {"HOME": str(root)}

"""The course on a class's hub: the hub runs `python -m utils.lab.on_hub` for each learner.

The hub serves one copy of what students get, which they cannot change. A learner works on a copy of
that one in the home folder, as with a bundle: a newer course arrives at the next start.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

from jupyterhub.singleuser.extension import JupyterHubSingleUser
from traitlets.config import Config

from utils.lab.exchange import Course
from utils.lab.start import open_course

NAME = "transformer-encoder-course"  # as the bundle's folder is called
STAMP = ".served"  # the copy's note of what it was made from
OWN = ("learn", ".course", STAMP)  # what is the learner's, whatever the hub serves


def renew(served: Path, home: Path) -> None:
    """Replace the course's part of a learner's copy where the hub serves another one.

    Args:
        served: the copy that the hub serves.
        home: the learner's; made if it is missing. What is in OWN stays.

    Raises:
        OSError: the learner's copy cannot be written.

    """
    parts = [path for path in sorted(served.iterdir()) if path.name not in OWN]
    version = _version(served)
    if _is_current(home, version, parts):
        return
    home.mkdir(exist_ok=True)
    for part in parts:
        _replace(part, home / part.name)
    (home / STAMP).write_text(version, encoding="utf-8")


def _version(served: Path) -> str:
    """Return a checksum of names, sizes and times; contents would take seconds on a busy hub."""
    files = sorted(path for path in served.rglob("*") if path.is_file())
    lines = [f"{p.relative_to(served)} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_current(home: Path, version: str, parts: list[Path]) -> bool:
    try:
        noted = (home / STAMP).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return noted == version and all((home / part.name).exists() for part in parts)


def _replace(part: Path, target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if part.is_dir():
        shutil.copytree(part, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(part, target)


def main(options: list[str]) -> None:
    """Bring the learner's copy up to date, then serve it until the hub stops this."""
    home = Path.home() / NAME
    try:
        renew(Path(__file__).resolve().parents[2], home)
    except OSError as error:
        sys.exit(f"The course could not be copied to {home}: {error}. Is the disk full?")
    # Hand-ins carry the name by which the hub knows the learner.
    named = Config(CourseDirectory={"student_id": os.environ["JUPYTERHUB_USER"]})
    open_course(Course(home), options, application=JupyterHubSingleUser, settings=named)


if __name__ == "__main__":  # tests and tools import every module
    main(sys.argv[1:])

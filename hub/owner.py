"""The account that a clone belongs to: it grades, and what is written into the clone is its own."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

from grader.errors import CourseError


def owner_of(root: Path) -> pwd.struct_passwd:
    """Return the account that a clone belongs to."""
    return pwd.getpwuid(root.stat().st_uid)


def give(path: Path, root: Path) -> None:
    """Give a file or folder to the clone's owner."""
    owner = root.stat()
    os.chown(path, owner.st_uid, owner.st_gid)


def as_owner(root: Path, *words: str) -> str:
    """Run Python in the clone as its owner; return what it prints.

    Args:
        root: the clone.
        words: what follows `python`.

    Raises:
        CourseError: it failed; the message is what it said.

    """
    owner = owner_of(root)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env={**os.environ, "HOME": owner.pw_dir, "PYTHONPATH": str(root)},
        user=owner.pw_uid if os.geteuid() == 0 else None,
        group=owner.pw_gid if os.geteuid() == 0 else None,
        extra_groups=[] if os.geteuid() == 0 else None,
        umask=0o077,  # its commands open what is for students by themselves
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CourseError((done.stderr or done.stdout).strip())
    return done.stdout

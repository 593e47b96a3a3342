"""Files that cannot be read, though root may read all, and folders in folders in folders."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ORDINARY_USER = 65532  # not the id by which the hub ends an account's processes: it would end these


def opening_fails(
    monkeypatch: pytest.MonkeyPatch, part: str, number: int = errno.EACCES, below: str = ""
) -> None:
    """Let whatever is called `part` fail to open; only in a folder of the name `below`, if given.

    A file is opened in its folder, which was opened before it: that one's name decides.
    """
    opens, last = os.open, {"folder": ""}

    def refusing(path, *flags, **named):
        name = Path(path).name
        home = last["folder"] if "dir_fd" in named else str(path)
        if "dir_fd" not in named:
            last["folder"] = str(path)
        if name == part and below in home:
            raise OSError(number, os.strerror(number), path)
        return opens(path, *flags, **named)

    monkeypatch.setattr(os, "open", refusing)


@contextmanager
def open_to_all() -> Iterator[Path]:
    """Make a folder in which an ordinary user may write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def as_ordinary_user(action: Callable[[], object]) -> None:
    """Run an action in a process of its own, whose rights bind it."""
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(ORDINARY_USER)
            action()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def nested(folder: Path, depth: int = 1200) -> Iterator[None]:
    """Put more folders into each other than functions may call themselves; remove them after."""
    inner = [Path(f"{folder}{'/d' * n}") for n in range(1, depth + 1)]
    for path in inner:
        path.mkdir()
    try:
        yield
    finally:
        for path in reversed(inner):
            path.rmdir()

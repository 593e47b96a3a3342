"""Versions that must agree between the client, which reads submissions, and workers."""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("torch", "numpy")
CODE: Final = ("grader", "utils")
LENGTH: Final = 12  # of the course's fingerprint


@cache
def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the versions of all that a grade depends on.

    Args:
        root: where the lessons' texts are; the code is that of this process.

    """
    python = ".".join(platform.python_version_tuple()[:2])
    packages = {name: version(name).partition("+")[0] for name in PACKAGES}
    return {"python": python, **packages, "course": _fingerprint(root)}


def _fingerprint(root: Path) -> str:
    """Identify the course: its code, the tables of mistakes, and the lessons' texts."""
    found = hashlib.sha256()
    for name, path in _files(root):
        found.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:LENGTH]


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for folder in CODE:
        for pattern in ("*.py", "*.json", "*.toml", "*.txt"):
            for path in sorted((ROOT / folder).rglob(pattern)):
                yield path.relative_to(ROOT).as_posix(), path
    for path in sorted((root / "solutions").glob("*.py")):
        yield path.name, path


def difference(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return in words what differs, with both versions of each; "" if nothing does."""
    names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    parts = [
        f"{n} is {theirs.get(n, 'not told')} there and {ours.get(n, 'not')} here" for n in names
    ]
    return ", ".join(parts)

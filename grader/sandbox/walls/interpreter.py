"""The files that the interpreter and its libraries need, and those that a task may see."""

import os
import stat
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("site-packages", "dist-packages")


def own_folders() -> set[Path]:
    """Return the folders of the standard library, installed packages and loaded libraries.

    Folders that an editable install or the working folder adds to sys.path are left out: they
    would include the course's own sources.
    """
    named = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    named |= {f"{prefix}/lib" for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    named |= {entry for entry in sys.path if Path(entry).name in PACKAGES}
    return {Path(name) for name in named if Path(name).is_dir()} | library_folders()


def library_folders() -> set[Path]:
    """Return the folders of shared libraries that this process has mapped; none without /proc."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    files = {line[line.index("/") :] for line in lines if "/" in line and ".so" in line}
    return {Path(file).parent for file in files if Path(file).is_file()}


@dataclass(frozen=True)
class View:
    """What a task may read.

    `paths` have no symbolic links, and `links` lead to them.
    """

    paths: tuple[Path, ...]
    links: tuple[tuple[Path, Path], ...]


def view(readable: Iterable[Path]) -> View:
    """Return a view of the interpreter and `readable`; FileNotFoundError if one is absent."""
    asked = {Path(os.path.abspath(path)) for path in readable}  # noqa: PTH100 (keeps links)
    asked |= own_folders()
    real = {path: path.resolve(strict=True) for path in asked}
    links = tuple((path, end) for path, end in real.items() if path != end)
    return View(tuple(outermost(real.values())), links)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """Return `paths` without those that lie under another of them."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), path)):
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return kept


def closed_to_others(paths: Iterable[Path]) -> list[Path]:
    """Return the folders on the way to `paths` that other users may not enter."""
    folders = {folder for path in paths for folder in (path, *path.parents) if folder.is_dir()}
    return sorted(folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH)

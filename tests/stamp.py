"""Say for which parts of the tests nothing has changed since they last passed in a full run.

tests/stamp.json holds each part's checksum of all that it depends on. A full run writes it, it is
committed, and CI refuses one that does not fit the tree.
"""

import hashlib
import json
import subprocess
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from grader.authoring.lesson import lessons
from grader.judging.judged_by import judged_by
from tests.tiers import SYSTEMS, nbval_of, tables_of

ROOT: Final = Path(__file__).resolve().parents[1]
STAMP: Final = ROOT / "tests" / "stamp.json"
PYTHON: Final = (3, 11)  # makes the stamp: versions differ in how they read the same source

CHECKS: Final = ("utils/checks", "utils/reference", "utils/words.py")
BROWSER: Final = ("tests/browser/chrome.py", "tests/browser/jupyterlab.py", "tests/browser/axe.py")
GRADING: Final = tuple(
    f"grader/{package}" for package in ("grading", "reading", "judging", "recording")
)
# The files that decide how a system's tests end, besides those tests.
OF_SYSTEMS: Final[dict[str, tuple[str, ...]]] = {
    "clusters": (
        "grader/cluster", *GRADING, "grader/workers", "grader/sandbox",
        "grader/static_analysis", "tests/course/clusters.py",
    ),
    "PostgreSQL": (
        "grader/gradebook", "grader/course", *GRADING, "tests/course/postgres.py",
    ),
    "the hub": ("hub", "utils/lab", "grader/lms", "tests/course/hub_class.py", *BROWSER),
    "the site": ("site", "grader/website", "tests/course/built_site.py", *BROWSER),
    "whole classes": ("grader", "docs/instructors.md", "tests/course/handing_in.py"),
    "killed graders": (
        "grader/gradebook", "grader/course", *GRADING, "grader/workers", "grader/sandbox",
    ),
    "fresh copies": ("utils/kernel", "utils/progress", "notebooks"),
    "several processes": ("utils/training", "utils/notebook", "utils/kernel", "utils/treebank"),
    "two engines": (
        *GRADING, "grader/nbgrader_plugins", "grader/static_analysis", "grader/workers",
        "nbgrader_config.py", "tests/attacks/in_nbgrader.py", "tests/attacks/malformed.py",
        "tests/attacks/turned.py",
    ),
    "drawn pictures": ("utils/drawn", *BROWSER),
    "pages in a browser": ("grader/pages", *BROWSER),
    "JupyterLab": (
        "utils/kernel", "utils/lab", "utils/progress", "grader/bundle", "grader/formgrader",
        "grader/commands/teach.py", *BROWSER,
    ),
}  # fmt: skip
# Tests that try many answers to each exercise, and where the answers are.
TABLES: Final = (
    "tests/course/lesson_runs.py",
    "tests/course/test_exercises.py",
    "tests/course/test_gaps.py",
    "tests/course/test_layouts.py",
    "tests/course/test_missing_cells.py",
    "tests/course/test_other_hands.py",
    "tests/course/test_private_cases.py",
    "tests/course/test_quiet_checks.py",
    "tests/course/test_registered_otherwise.py",
    "tests/course/other_hands/__init__.py",
    "tests/course/other_hands/judged.json",
)
ANSWERS: Final = (
    "tests/course/gaps.txt", "tests/course/other_hands/*.txt", "tests/course/right_forms/*.py",
)  # fmt: skip
# What every part depends on.
EVERYWHERE: Final = (
    "constraints.txt",
    "pyproject.toml",
    "tests/conftest.py",
    "tests/tiers.py",
    "tests/stamp.py",
)


def keys() -> dict[str, str]:
    """Return each part's checksum of what it depends on."""
    found = {
        name: checksum(*tests, *OF_SYSTEMS[name], skipped=()) for name, tests in SYSTEMS.items()
    }
    for lesson in lessons(ROOT):
        judged = judged_by(lesson)
        words = "\n".join(f"{name} {key}" for name, key in judged.items())
        found[nbval_of(lesson.name)] = checksum(
            "utils", "tests/executed.py", f"solutions/{lesson.name}/*.ipynb",
            also=words, skipped=("utils/checks/lessons", "utils/lab"),
        )  # fmt: skip
        for exercise, key in judged.items():
            found[tables_of(exercise)] = checksum(
                *CHECKS, *TABLES, *_naming(exercise), also=key, skipped=("utils/checks/lessons",)
            )
    return found


def _naming(exercise: str) -> Iterator[str]:
    """Yield the files of answers that name an exercise."""
    for path in (path for pattern in ANSWERS for path in ROOT.glob(pattern)):
        if f'"{exercise}"' in _text(path):
            yield path.relative_to(ROOT).as_posix()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def checksum(*patterns: str, also: str = "", skipped: Collection[str]) -> str:
    """Return a checksum of files and folders, named from the root, and of a text besides."""
    digest = hashlib.sha256(also.encode())
    for path in _files((*patterns, *EVERYWHERE), tuple(f"{folder}/" for folder in skipped)):
        digest.update(path.encode() + b"\0" + _digest(path))
    return digest.hexdigest()[:16]


def _files(patterns: tuple[str, ...], skipped: tuple[str, ...]) -> list[str]:
    found = {
        name
        for pattern in patterns
        for place in ROOT.glob(pattern)
        for name in _at(place.relative_to(ROOT).as_posix())
    }
    return sorted(name for name in found if not name.startswith(skipped))


def _at(place: str) -> list[str]:
    return [name for name in _kept() if name == place or name.startswith(f"{place}/")]


@cache
def _kept() -> list[str]:
    """Return the files that git keeps or would keep: what is built beside them counts nowhere."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:  # a copy without its history
        return [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file()]
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@cache
def _digest(path: str) -> bytes:
    return hashlib.sha256((ROOT / path).read_bytes()).digest()


def stamped() -> dict[str, str]:
    """Return what the last full run entered; nothing where there was none."""
    return json.loads(STAMP.read_text()) if STAMP.is_file() else {}


def unchanged(now: dict[str, str]) -> list[str]:
    """Return the parts that passed in the last full run and for which nothing has changed."""
    before = stamped()
    return [part for part, key in now.items() if before.get(part) == key]


def enter(passed: dict[str, str]) -> None:
    """Write the parts that passed, with their checksums, into the stamp."""
    STAMP.write_text(json.dumps(passed, indent=1, sort_keys=True) + "\n", encoding="utf-8")

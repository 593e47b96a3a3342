"""Compare what is built with what the text builds, without running anything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grader.authoring.files import stale
from grader.authoring.lesson import Lesson
from grader.authoring.notebook import (
    as_text,
    source_notebook,
    was_run,
    with_run_of,
    without_outputs,
)
from grader.authoring.release import released
from grader.authoring.right_source import right_source, source_path
from grader.authoring.slides import slides, stale_slides
from grader.errors import PROGRAM
from utils.checks.bank.source import unpacked


@dataclass(frozen=True)
class Difference:
    """A built file that is not as it should be, and how to fix that."""

    path: Path
    what: str
    fix: str


def solution_fault(lesson: Lesson) -> str | None:
    """Return what is wrong with the built solution, outputs aside; None if it is up to date."""
    if not lesson.solution_path.is_file():
        return "is missing"
    built = _read(lesson.solution_path)
    if built is None:
        return "is not a notebook"
    if as_text(without_outputs(built)) != as_text(source_notebook(lesson)):
        return f"differs from what solutions/{lesson.name}.py builds"
    return None if was_run(built) else "has a code cell that was never run"


def with_last_run(lesson: Lesson) -> Any:
    """Return the lesson's notebook with its last run's outputs; None if its code must run again."""
    built = _read(lesson.solution_path) if lesson.solution_path.is_file() else None
    return None if built is None else with_run_of(built, source_notebook(lesson))


def release_fault(lesson: Lesson, root: Path) -> str | None:
    """Return what is wrong with the built release, byte for byte; None if it is right."""
    if not lesson.release_path.is_file():
        return "is missing"
    if lesson.release_path.read_bytes() != released(lesson, root).encode():
        return f"differs from the release of solutions/{lesson.name}.py"
    return None


def source_fault(lesson: Lesson, root: Path) -> str | None:
    """Return what is wrong with the right source beside the checks; None if it is right."""
    path = source_path(lesson, root)
    if path is None or (path.is_file() and unpacked(path.read_text()) == right_source(lesson)):
        return None
    return f"differs from the answers in solutions/{lesson.name}.py"


def differences(root: Path, chosen: list[Lesson], *, is_whole: bool) -> list[Difference]:
    """Return every fault of the chosen lessons' files, and stale files if the course is whole."""
    found = [
        Difference(path, fault, f"make build, or {PROGRAM} build {lesson.name}")
        for lesson in chosen
        for path, fault in _faults(lesson, root)
        if fault
    ]
    if is_whole:
        found += [
            Difference(path, "is stale, no lesson text builds it", "delete it, then make build")
            for path in [*stale(root, chosen), *stale_slides(root, chosen)]
        ]
    return found


def _faults(lesson: Lesson, root: Path) -> list[tuple[Path, str | None]]:
    return [
        (lesson.solution_path, solution_fault(lesson)),
        (lesson.release_path, release_fault(lesson, root)),
        (source_path(lesson, root) or root, source_fault(lesson, root)),
        *((path, _slide_fault(path, text)) for path, text in slides(lesson, root).items()),
    ]


def _slide_fault(path: Path, text: str) -> str | None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return None
    return "is not the picture that the lesson shows"


def _read(path: Path) -> Any:
    """Return the notebook in the file, or None if it holds none."""
    try:
        return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError):
        return None

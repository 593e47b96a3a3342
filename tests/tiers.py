"""Name the parts of the tests that a quick run leaves out while nothing changes for them.

A full run (`make test ARGS=--all`) enters what passed into tests/stamp.json (see tests/stamp.py).
`make test` leaves out the parts that depend on nothing that has changed since, and says so.
"""

import json
import os
from collections.abc import Collection
from fnmatch import fnmatch
from typing import Final

# Names the parts to leave out, for pytest and what it starts; in a full run it is empty.
VARIABLE: Final = "TESTS_LEFT_OUT"
OTHER_SETTINGS: Final = "attacks under all settings but one"
WHOLE: Final = "the share of true causes over all answers"

# Modules of tests that start whole programs, by what they start; the first that fits counts.
SYSTEMS: Final[dict[str, tuple[str, ...]]] = {
    "clusters": ("tests/course/test_cluster*.py",),
    "PostgreSQL": ("tests/course/test_postgres.py",),
    "the hub": ("tests/*/test_hub*.py", "tests/course/test_graders_at_once.py"),
    "the site": ("tests/*/test_site.py",),
    "whole classes": (
        "tests/course/test_grading.py",
        "tests/course/test_instructors_page.py",
        "tests/course/test_semester.py",
    ),
    "killed graders": (
        "tests/attacks/test_interrupted.py",
        "tests/unit/grader/judging/test_ended_early.py",
    ),
    "fresh copies": ("tests/course/test_fresh_copies.py",),
    "several processes": ("tests/unit/utils/training/test_distributed.py",),
    "two engines": ("tests/attacks/test_two_engines.py",),
    "drawn pictures": ("tests/browser/test_drawn.py",),
    "pages in a browser": ("tests/browser/test_pages.py",),
    "JupyterLab": ("tests/browser/test_*.py",),
}


def left_out() -> frozenset[str]:
    """Return the parts that this run leaves out."""
    return frozenset(json.loads(os.environ.get(VARIABLE, "[]")))


def system_of(module: str) -> str | None:
    """Return the system that a module of tests, a path from the root, starts."""
    fitting = (name for name, tests in SYSTEMS.items() if any(fnmatch(module, t) for t in tests))
    return next(fitting, None)


def tables_of(exercise: str) -> str:
    """Return the name of the part that tries many answers to an exercise."""
    return f"answers to {exercise}"


def nbval_of(lesson: str) -> str:
    """Return the name of the part that runs a lesson and compares its outputs."""
    return f"nbval of {lesson}"


def told(parts: Collection[str]) -> str:
    """Return the parts in a few words, counted where there are many of a kind."""
    lessons = sum(part.startswith("nbval") for part in parts)
    exercises = sum(part.startswith("answers") for part in parts)
    rest = [part for part in parts if not part.startswith(("nbval", "answers"))]
    kinds = {f"nbval of {lessons} lessons": lessons, f"answers to {exercises} exercises": exercises}
    return ", ".join([*(words for words, count in kinds.items() if count), *rest])

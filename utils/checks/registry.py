"""Find exercises by their ids.

Each lesson is a package in ``lessons``. Its ``probes`` (how answers are questioned) may be loaded
next to student code; its ``answers`` (oracles and mistakes) only where no student code runs.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from utils.checks import lessons
from utils.checks.framework.exercise import Exercise, Probe
from utils.checks.lessons.settings import SETTINGS


@cache
def probes() -> Mapping[str, Probe]:
    """Return all probes by exercise id."""
    return {
        name: probe
        for package in _packages()
        for name, probe in _table(package, "probes", "PROBES").items()
    }


@cache
def exercises() -> Mapping[str, Exercise]:
    """Return all exercises, with oracles and mistakes, by id."""
    return {
        name: replace(exercise, fingerprints=fingerprint_file(package), settings=SETTINGS)
        for package in _packages()
        for name, exercise in _table(package, "answers", "EXERCISES").items()
    }


def fingerprint_file(package: str) -> Path:
    """Return where a lesson's machine-made mistakes are kept.

    Args:
        package: the full name of the lesson's package of checks.

    """
    return Path(lessons.__path__[0]) / package.rpartition(".")[2] / "fingerprints.json"


def find_exercise(name: str) -> Exercise:
    """Look up an exercise by its id.

    Raises:
        AttributeError: there is no such exercise; the message names the nearest. (This type,
            because ``check.<id>`` looks up an attribute.)

    """
    known = exercises()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        advice = f"; did you mean check.{near[0]}?" if near else ""
        raise AttributeError(f"there is no exercise called {name!r}{advice}")
    return known[name]


def _packages() -> list[str]:
    found = pkgutil.iter_modules(lessons.__path__, f"{lessons.__name__}.")
    return [module.name for module in found if module.ispkg]


def _table(package: str, part: str, name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = getattr(importlib.import_module(f"{package}.{part}"), name)
    return table

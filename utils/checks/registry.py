"""Where exercises are found by their ids.

Each lesson is a package beside this file: ``probes`` may be loaded next to student code,
``answers`` (oracles and mistakes) only where none runs.
"""

import difflib
import importlib
from collections.abc import Mapping
from functools import cache

from utils.checks.exercise import Exercise, Probe

LESSONS = (
    "start_here",
    "rnn_limits",
    "attention",
    "multi_head_attention",
    "positional_encoding",
    "encoder",
    "training",
)


@cache
def probes() -> Mapping[str, Probe]:
    """All probes, by exercise id, in the order of the course."""
    modules = [importlib.import_module(f"utils.checks.{lesson}.probes") for lesson in LESSONS]
    return {probe.exercise: probe for module in modules for probe in module.PROBES}


@cache
def exercises() -> Mapping[str, Exercise]:
    """All exercises with oracles and mistakes, by id, in the order of the course."""
    modules = [importlib.import_module(f"utils.checks.{lesson}.answers") for lesson in LESSONS]
    return {exercise.id: exercise for module in modules for exercise in module.EXERCISES}


def find_exercise(name: str) -> Exercise:
    """Look an exercise up.

    Raises:
        AttributeError: there is none; names the nearest (an attribute, as ``check.<id>`` asks).
    """
    known = exercises()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        advice = f"; did you mean check.{near[0]}?" if near else ""
        raise AttributeError(f"there is no exercise called {name!r}{advice}")
    return known[name]

"""Find exercises by their ids.

Each lesson is a package in ``lessons``. Its ``probes`` (how answers are questioned) may be loaded
next to student code; its ``answers`` (oracles and mistakes) only where no student code runs.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from utils.checks import lessons
from utils.checks.bank.parts import mistakes_of_parts
from utils.checks.bank.source import sources_in
from utils.checks.bank.table import TableError, mistakes_of, read_table, verify_patches
from utils.checks.exercise import Exercise, Mistake, Probe
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
    return _Exercises(
        {
            name: replace(exercise, fingerprints=folder / "fingerprints.json", settings=SETTINGS)
            for package in _packages()
            for folder in (Path(lessons.__path__[0]) / package.rpartition(".")[2],)
            for name, exercise in _table(package, "answers", "EXERCISES").items()
        }
    )


class _Exercises(Mapping[str, Exercise]):
    """Exercises by id; the table of an exercise's mistakes is read when somebody asks for it."""

    def __init__(self, found: Mapping[str, Exercise]) -> None:
        self._found, self._whole = found, dict[str, Exercise]()

    def __getitem__(self, name: str) -> Exercise:
        if name not in self._whole:
            self._whole[name] = _with_table(self._found[name])
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _with_table(exercise: Exercise) -> Exercise:
    """Return an exercise with the mistakes of its table, if it has one, before its others.

    Raises:
        TableError: the table cannot be used.

    """
    table = read_table(_folder(exercise) / "mistakes" / f"{exercise.id}.toml")
    known = _patched(exercise, table) if table else ()
    whole = replace(exercise, mistakes=(*known, *exercise.mistakes))
    return replace(whole, of_parts=cache(partial(_of_parts, whole)))


def _of_parts(exercise: Exercise) -> tuple[Mistake, ...]:
    """Return the mistakes of the functions that an exercise's right answer calls."""
    source = sources_in(_folder(exercise)).get(exercise.id)
    return () if source is None else mistakes_of_parts(exercise, source, exercises().get)


def _folder(exercise: Exercise) -> Path:
    assert exercise.fingerprints is not None
    return exercise.fingerprints.parent


def _patched(exercise: Exercise, table: Mapping[str, Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of a table; none where the lesson no longer asks for the exercise."""
    source = sources_in(_folder(exercise)).get(exercise.id)
    return () if source is None else mistakes_of(table, source, exercise.probe.stand_ins)


def with_mistakes(exercise: Exercise, table: Mapping[str, Any]) -> Exercise:
    """Return an exercise with mistakes that a class adds to those of the course.

    Args:
        exercise: with the course's mistakes.
        table: the class's.

    Raises:
        TableError: a mistake cannot be used, or has the name of one of the course's.

    """
    if not table:
        return exercise
    key = exercise.id, repr(table)
    if key not in _OWN:
        added = _patched(exercise, table)
        verify_patches(exercise.id, added)
        if twice := {m.name for m in added} & {m.name for m in exercise.mistakes}:
            names = " and ".join(sorted(twice))
            raise TableError(f"{exercise.id}: {names}: the course has a mistake of this name.")
        _OWN[key] = replace(exercise, mistakes=(*exercise.mistakes, *added))
    return _OWN[key]


_OWN: dict[tuple[str, str], Exercise] = {}  # what is compiled for a class serves all submissions


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

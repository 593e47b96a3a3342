"""Fingerprints of what judges an exercise, to see whose grades a change affects.

An exercise is judged by its points, its hidden cases, and the modules of its probe (with the
visible cases) and of its answers (oracle and mistakes), with what these take from other lessons'
checks and from the reference implementations. The table of its mistakes counts, with the answer
that they are patches of, and what a class adds to it. The framework that all exercises share is
left out: when it changes, `--regrade` is the choice of a person.
"""

import ast
import hashlib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

from grader.authoring.lesson import Lesson, LessonExercise
from utils.checks import lessons
from utils.checks.bank.table import read_table

FOLLOWED: Final = ("utils.checks.lessons", "utils.reference")
TABLES: Final = (("probes", "PROBES"), ("answers", "EXERCISES"))


class Fingerprints(dict[str, Mapping[str, str]]):
    """Lesson -> exercise -> fingerprint of what judges it now, made when it is first asked for.

    Args:
        lessons: those of the course.

    """

    def __init__(self, lessons: Iterable[Lesson]) -> None:
        super().__init__()
        self._lessons = {lesson.name: lesson for lesson in lessons}

    def __missing__(self, name: str) -> Mapping[str, str]:
        self[name] = judged_by(self._lessons[name])
        return self[name]


def judged_by(lesson: Lesson) -> dict[str, str]:
    """Return exercise -> fingerprint of what judges it now."""
    return {exercise.id: _fingerprint(exercise) for exercise in lesson.exercises}


def _fingerprint(exercise: LessonExercise) -> str:
    homes = [module for part, table in TABLES for module in _homes(exercise.id, part, table)]
    sources = [_meaning(name) for name in sorted(_reachable(homes))]
    parts: tuple[object, ...] = (exercise.points, exercise.hidden, sources)
    if table := read_table(_folder(homes[0]) / "mistakes" / f"{exercise.id}.toml"):
        parts = (*parts, table, _without_words(exercise.source))
    if exercise.mistakes:
        parts = (*parts, exercise.mistakes)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _homes(exercise: str, part: str, table: str) -> tuple[str, ...]:
    """Return the modules whose table holds the exercise; packages only collect tables."""
    found = []
    for package in pkgutil.iter_modules(lessons.__path__, f"{lessons.__name__}."):
        if not package.ispkg:
            continue
        home = importlib.import_module(f"{package.name}.{part}")
        modules = [m for m in _below(home) if exercise in getattr(m, table, {})]
        found += [module.__name__ for module in modules[1:] or modules]
    return tuple(found)


def _below(package: ModuleType) -> Iterator[ModuleType]:
    """Yield a package, then its modules."""
    yield package
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(module.name)


def _reachable(names: list[str]) -> set[str]:
    """Return the modules, and what they import, directly or not, of the packages followed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and _file(name) is not None:
            found.add(name)
            waiting += _imports(name)
    return found


@cache
def _imports(name: str) -> tuple[str, ...]:
    tree = ast.parse(_text(name))
    named: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in named if name.startswith(FOLLOWED))


@cache
def _file(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # a name in a module is no module
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _text(name: str) -> str:
    file = _file(name)
    return file.read_text(encoding="utf-8") if file is not None else ""


def _folder(home: str) -> Path:
    """Return the lesson's folder of checks, from a module of its probes or answers."""
    file = _file(home)
    assert file is not None
    return file.parents[1]


@cache
def _meaning(name: str) -> str:
    return _without_words(_text(name))


def _without_words(source: str) -> str:
    """Return code without comments, layout and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return ast.dump(tree)

"""`python -m grader fingerprints`: keep what known mistakes give, for checks to be fast."""

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from grader.authoring.files import find_root
from grader.authoring.lesson import Lesson, lessons
from grader.commands.making.build import verify_mistakes
from utils.checks.compare.fingerprint_file import read_exercise, write
from utils.checks.compare.fingerprints import Fingerprints, Print, print_of, same_print
from utils.checks.exercise import Exercise, ExerciseKind
from utils.checks.observe.expected import expected_of, observed
from utils.checks.registry import exercises


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", nargs="*", help="for example 02_attention; all, if none is named")


def run(arguments: argparse.Namespace) -> int:
    """Make what is out of date, and return 0."""
    for lesson in lessons(find_root(Path.cwd()), arguments.lesson):
        verify_mistakes(lesson)
        chosen = list(with_fingerprints(lesson))
        path = chosen[0].fingerprints
        assert path is not None
        made = {exercise.id: renewed(exercise) for exercise in chosen}
        write(path, made)
        print(f"{lesson.name}: {sum(len(kept.bank) for kept in made.values())} known mistakes")
    return 0


def with_fingerprints(lesson: Lesson) -> Iterator[Exercise]:
    """Return the exercises whose answers are code that computes something."""
    for known in (exercises()[exercise.id] for exercise in lesson.exercises):
        if known.probe.kind in (ExerciseKind.WRITE, ExerciseKind.REPAIR):
            yield known


def renewed(exercise: Exercise) -> Fingerprints:
    """Return what is kept of an exercise, made anew where it is not as it was.

    Machines differ in the last digits: what is the same but for these stays as it is kept.
    """
    path, cases = exercise.fingerprints, exercise.probe.cases
    names = tuple(case.name for case in cases)
    old = None if path is None else read_exercise(path, exercise.id)
    was = old if old is not None and old.cases == names else None
    right = tuple(print_of(expected_of(exercise, case)) for case in cases)
    bank = {m.name: m.answer for m in exercise.mistakes if m.answer is not None}
    return Fingerprints(
        stamp(exercise),
        names,
        _as_kept(right, was.right if was else ()),
        {
            name: _as_kept(
                tuple(prints(exercise, name, answer)), was.bank.get(name, ()) if was else ()
            )
            for name, answer in bank.items()
        },
    )


def _as_kept(
    made: tuple[Print | None, ...], old: tuple[Print | None, ...]
) -> tuple[Print | None, ...]:
    same = len(made) == len(old) and all(map(same_print, made, old))
    return old if same else made


def prints(exercise: Exercise, name: str, answer: Any) -> Iterator[Print | None]:
    """Yield what a known mistake gives in each case, the same in each run."""
    for case in exercise.probe.cases:
        torch.manual_seed(0)  # some mistakes draw numbers: the file is the same after each run
        yield print_of(observed(exercise, name, answer, case))


def stamp(exercise: Exercise) -> str:
    """Return the state of the code that an exercise's fingerprints are made from."""
    assert exercise.fingerprints is not None
    folder = exercise.fingerprints.parent
    files = sorted(file for kind in ("*.py", "*.toml", "*.packed") for file in folder.rglob(kind))
    texts = (file.read_text(encoding="utf-8") for file in files)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]

"""Answers written by people who had not seen the bank of known mistakes.

Each text file holds one lesson's answers as students write them, a cell each, in the percent format
of lessons. Thousands are read where tests are collected: they have one kind of header, which is
quick to read. A wrong answer has its faults in `causes`; a right one says `right=True`, and in
`demands` what it leaves out of what is asked beside the exercise's idea.
"""

import json
import linecache
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tests.course.lesson_runs import lesson_of, names_of
from utils.checks import check
from utils.checks.verdict import Verdict

# What set-up cells imported when the answers were written.
PREAMBLE = """
import math
from functools import partial
from itertools import chain, islice, repeat
import torch
from torch import Tensor, nn
from torch.nn import functional as F
"""
HEADER = re.compile(
    r'(?m)^# %% exercise="(\w+)" (?:causes=(\[.+\])|right=True(?: demands=(\[.+\]))?)\n'
)


@dataclass(frozen=True)
class Form:
    """An answer.

    Attributes:
        id: exercise, and the line of its file.
        exercise: the exercise's id.
        source: the student's cell.
        causes: its faults, in words; none if it is right.
        demands: what a right answer leaves out of what is asked beside the idea.

    """

    id: str
    exercise: str
    source: str
    causes: tuple[str, ...]
    demands: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.causes


def forms() -> Iterator[Form]:
    """Read all answers."""
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        yield from _forms(path.read_text(encoding="utf-8"), path.name)


def _forms(text: str, name: str) -> Iterator[Form]:
    """Read a file's answers: each begins at its header and ends before the next."""
    line, found = 1, HEADER.split(text)
    assert not found[0], f"{name}: the first line is no header"
    for exercise, *lists, source in zip(*(found[k::4] for k in range(1, 5)), strict=True):
        assert "\n# %%" not in f"\n{source}", f"{name}: an unknown header after line {line}"
        causes, demands = (tuple(json.loads(words or "[]")) for words in lists)
        yield Form(f"{exercise}-{line}", exercise, source.rstrip("\n"), causes, demands)
        line += 1 + source.count("\n")


@cache
def _names(lesson: str) -> dict[str, Any]:
    """Return what a lesson's cells define, with right answers, as a student's notebook has it."""
    return names_of(lesson_of(lesson))


def answer_of(form: Form) -> Any:
    """Return the object that an answer's cell defines."""
    namespace = dict(_names(lesson_of(form.exercise).exercises[0].id))
    exec(PREAMBLE, namespace)
    lines = form.source.splitlines(keepends=True)
    linecache.cache[f"<{form.id}>"] = (len(form.source), None, lines, f"<{form.id}>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a notebook shows it, and goes on
        code = compile(form.source, f"<{form.id}>", "exec")
    exec(code, namespace)
    return namespace[form.exercise]


@cache
def judged(form: Form) -> Verdict:
    """Return the verdict on an answer, hidden cases included."""
    lesson = lesson_of(form.exercise)
    exercise = next(e for e in lesson.exercises if e.id == form.exercise)
    verdict = getattr(check, form.exercise).verdict
    torch.manual_seed(0)  # an answer that draws numbers must not be named otherwise at each run
    found: Verdict = verdict(answer_of(form), points=exercise.points, hidden=exercise.hidden)
    return found

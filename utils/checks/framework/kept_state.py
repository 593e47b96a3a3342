"""Find out whether an answer is wrong only because it keeps something of an earlier call.

What an answer can keep is copied before the check. A case that fails is then asked once more with
that put back, so that it comes first: if it is right now, an earlier call was in the way.
"""

import copy
import functools
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from utils.checks.framework.answer_code import functions_of, names_in
from utils.checks.framework.exercise import Exercise
from utils.checks.framework.expected import with_facts
from utils.checks.framework.general_mistakes import REMEMBERS
from utils.checks.framework.judge import judge_case
from utils.checks.framework.observe import observe_all
from utils.checks.framework.verdict import Verdict

_KEPT = (dict, list, set, torch.Tensor, type(None), bool, int, float, str, tuple)
_ASKED = 4  # times: an answer that is random may be right once by chance


@dataclass(frozen=True)
class Place:
    """A name under which something can be kept.

    Attributes:
        holder: a namespace, or a class.
        name: the name.
        value: what stood there.
        content: a copy of what was in it.

    """

    holder: Any
    name: str
    value: Any
    content: Any

    def put_back(self) -> None:
        """Put back what stood here, with what was in it."""
        if isinstance(self.value, (dict, list, set)):
            self.value.clear()
            (self.value.extend if isinstance(self.value, list) else self.value.update)(self.content)
        if isinstance(self.holder, dict):
            self.holder[self.name] = self.value
        else:
            setattr(self.holder, self.name, self.value)


@dataclass(frozen=True)
class Newcomers:
    """The attributes that a function or a class is given later, in a call.

    Attributes:
        holder: the function or class.
        known: the names of those that it had.

    """

    holder: Any
    known: frozenset[str]

    def put_back(self) -> None:
        """Take them away."""
        for name in vars(self.holder).keys() - self.known:
            delattr(self.holder, name)


def places_of(answer: Any) -> list[Place | Newcomers]:
    """Return the globals, attributes and defaults in which an answer can keep something."""
    found: list[Place | Newcomers] = []
    for holder, name, value in _all_names(answer):
        if isinstance(value, _KEPT):
            found.append(Place(holder, name, value, copy.copy(value)))
    holders = [*functions_of(answer), *([answer] if inspect.isclass(answer) else [])]
    return found + [Newcomers(holder, frozenset(vars(holder))) for holder in holders]


def _all_names(answer: Any) -> Iterator[tuple[Any, str, Any]]:
    if inspect.isclass(answer):
        yield from ((answer, n, v) for n, v in vars(answer).items() if not n.startswith("__"))
    for function in functions_of(answer):
        known = function.__globals__
        yield from ((known, n, known[n]) for n in names_in(function.__code__) if n in known)
        for number, value in enumerate(function.__defaults__ or ()):
            yield {}, str(number), value
        yield from ((vars(function), n, v) for n, v in list(vars(function).items()))


def _forget_calls(answer: Any) -> None:
    """Empty the caches of functools that an answer is wrapped in, or calls."""
    named = [value for _, _, value in _all_names(answer)]
    for one in (answer, *named):
        if isinstance(one, functools._lru_cache_wrapper):
            one.cache_clear()


def with_memory_named(
    exercise: Exercise, answer: Any, verdict: Verdict, before: Sequence[Place | Newcomers]
) -> Verdict:
    """Name that an answer remembers, if the case shown is right when it is asked first."""
    shown = verdict.first_failure
    if shown is None or verdict.is_stub or shown.case.hidden:
        return verdict
    for _ in range(_ASKED):
        for place in before:
            place.put_back()
        _forget_calls(answer)
        (seen,) = observe_all(exercise.probe, (shown.case,), answer, quiet=True)
        if judge_case(exercise, shown.case, with_facts(exercise, shown.case, seen)) is not None:
            return verdict
    return replace(verdict, mistake=REMEMBERS, second=None, symptoms=())

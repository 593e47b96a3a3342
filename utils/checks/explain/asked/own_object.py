"""The student's own object, to be asked again: as it is, or as it was before the check.

What an answer can keep from one call to the next is copied before it is asked for the first time.
"""

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from utils.checks.exercise import Case, Inputs, Probe
from utils.checks.observation import Observation
from utils.checks.observe.answer_code import functions_of, names_in
from utils.checks.observe.observe import observe_all

Change = Callable[[Inputs], Inputs]
_KEPT = (dict, list, set, torch.Tensor, type(None), bool, int, float, str, tuple)


@dataclass(frozen=True)
class _Place:
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
class _Newcomers:
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


class OwnObject:
    """An answer with what it could keep when this was made."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self._places = list(_places_of(answer))

    def forget(self) -> None:
        """Put back all that the answer kept since, and empty the caches of functools."""
        for place in self._places:
            place.put_back()
        for one in (self._answer, *(value for _, _, value in _all_names(self._answer))):
            if isinstance(one, functools._lru_cache_wrapper):
                one.cache_clear()

    def observe(self, probe: Probe, case: Case, change: Change | None = None) -> Observation:
        """Ask again, with a case's inputs as they are or changed; gradients are left out then."""
        if change is not None:
            probe = with_change(probe, change)
        return observe_all(probe, (case,), self._answer, quiet=True)[0]

    def names(self, inputs: Inputs) -> Inputs:
        """Return the inputs that a student knows by name: a function's own, a module's weights."""
        if not inspect.isfunction(self._answer):
            return inputs
        known = inspect.signature(self._answer).parameters
        return {name: value for name, value in inputs.items() if name in known or "." in name}


def with_change(probe: Probe, change: Change) -> Probe:
    """Return a probe whose inputs are changed, and that asks for no gradients."""
    made = probe.inputs
    return replace(probe, inputs=lambda **params: change(made(**params)), gradient=False)


def _places_of(answer: Any) -> Iterator[_Place | _Newcomers]:
    """Yield the globals, attributes and defaults in which an answer can keep something."""
    for holder, name, value in _all_names(answer):
        if isinstance(value, _KEPT):
            yield _Place(holder, name, value, copy.copy(value))
    for holder in (*functions_of(answer), *([answer] if inspect.isclass(answer) else [])):
        yield _Newcomers(holder, frozenset(vars(holder)))


def _all_names(answer: Any) -> Iterator[tuple[Any, str, Any]]:
    if inspect.isclass(answer):
        yield from ((answer, n, v) for n, v in vars(answer).items() if not n.startswith("__"))
    for function in functions_of(answer):
        known = function.__globals__
        yield from ((known, n, known[n]) for n in names_in(function.__code__) if n in known)
        for number, value in enumerate(function.__defaults__ or ()):
            yield {}, str(number), value
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # nothing stands in it yet
                yield cell, "cell_contents", cell.cell_contents
        yield from ((vars(function), n, v) for n, v in list(vars(function).items()))

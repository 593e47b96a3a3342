"""Find the functions of an answer, and those beside it that they call."""

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any


def functions_of(answer: Any) -> list[types.FunctionType]:
    """Return a function itself, or the methods of a class."""
    parts = list(vars(answer).values()) if inspect.isclass(answer) else [answer]
    return [f for f in map(inspect.unwrap, filter(callable, parts)) if inspect.isfunction(f)]


def names_in(code: types.CodeType) -> set[str]:
    """Return the global names and attributes that a piece of code uses."""
    return set(code.co_names).union(*map(names_in, _inner(code)))


def with_those_beside(answer: Any) -> list[types.FunctionType]:
    """Return an answer's functions, and then those beside it that they call."""
    found = functions_of(answer)
    for function in found:  # which grows
        found += [f for f in dict.fromkeys(_called_beside(function)) if f not in found]
    return found


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    return (const for const in code.co_consts if isinstance(const, types.CodeType))


def _called_beside(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Return the functions that stand beside one, in the same cells, and that it may call."""
    known: dict[str, Callable[..., Any]] = function.__globals__
    for name in names_in(function.__code__) & known.keys():
        for other in functions_of(known[name]) if callable(known[name]) else ():
            if other.__globals__ is known:
                yield other

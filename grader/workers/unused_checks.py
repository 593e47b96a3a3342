"""Helpers of the checks that a notebook's process does not need, taken out of it.

Probes of all lessons are loaded beside student code, and with them what draws masks, pads sentences
or counts hits. Inputs are made elsewhere, so what is needed is what calls the answers that are
asked for. All else loses its code, as torch's functions do.
"""

import functools
import gc
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, Final

from grader.workers.absence import refusal
from utils.checks.framework.exercise import Probe
from utils.checks.registry import probes

PACKAGES: Final = ("utils.checks.lessons.", "utils.checks.authoring.")


def take_out_helpers(asked: Iterable[Probe]) -> None:
    """Take out all helpers but those that call these exercises' answers."""
    kept = frozenset[int]().union(*(needed()[probe.exercise] for probe in asked))
    for function, refuses in helpers():
        if id(function) not in kept:
            function.__code__ = refuses


@functools.cache
def helpers() -> list[tuple[FunctionType, CodeType]]:
    """Return the checks' helpers, each with the code that refuses in its place."""
    everything = [f for f in gc.get_objects() if type(f) is FunctionType]
    ours = [f for f in everything if (f.__module__ or "").startswith(PACKAGES)]
    return [(f, refusal(f, f"{f.__qualname__} is not here while grading.")) for f in ours]


@functools.cache
def needed() -> Mapping[str, frozenset[int]]:
    """Return which helpers each exercise's answer is called with: exercise -> their ids."""
    return {name: frozenset(map(id, reached(probe.call))) for name, probe in probes().items()}


def reached(start: Any) -> list[Any]:
    """Return all functions and classes of the course that a function can come to."""
    found: dict[int, Any] = {}
    todo = [start]
    while todo:
        item = todo.pop()
        if id(item) not in found and _leads_on(item):
            found[id(item)] = item
            todo.extend(_parts(item))
    return list(found.values())


def _leads_on(item: Any) -> bool:
    if isinstance(item, Mapping | tuple | list | functools.partial | staticmethod | property):
        return True
    return str(getattr(item, "__module__", "")).startswith("utils.")


def _parts(item: Any) -> Iterator[Any]:
    """Yield what an object is made of, or refers to by name."""
    if isinstance(item, Mapping | tuple | list):
        yield from item.values() if isinstance(item, Mapping) else item
    elif isinstance(item, FunctionType):
        yield from _parts_of_function(item)
    elif isinstance(item, functools.partial):
        yield from (item.func, item.args, item.keywords)
    elif isinstance(item, type):
        yield from (*item.__bases__, *vars(item).values())
    else:
        yield from (getattr(item, name, None) for name in ("__func__", "fget", "__wrapped__"))


def _parts_of_function(function: FunctionType) -> Iterator[Any]:
    yield from (cell.cell_contents for cell in function.__closure__ or ())
    yield from (function.__defaults__ or (), function.__kwdefaults__ or {})
    yield getattr(function, "__wrapped__", None)
    for name in _names(function.__code__):
        yield function.__globals__.get(name)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)

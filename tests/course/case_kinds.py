"""What kind of question a case is, read off its parameters: what an answer can get right or wrong.

A kind is a demand, the form of a mask (with as many queries as keys, or not), an option, a number
type, an empty or repeated entry, the class of a size. Sizes within a class, and the numbers that
are drawn, may differ between what is shown and what is hidden.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from utils.checks.exercise import Case

# From how many on: beyond a byte, and beyond the whole numbers of float16, numbers may be lost.
CLASSES = ((2, "several"), (257, "many"), (2049, "thousands"))


def kinds(case: Case) -> set[tuple[str, str]]:
    """Return all kinds that a case is of: what is asked about, and how it stands there."""
    found = {("demand", case.demand)} if case.demand else set()
    for name, value in case.params.items():
        found |= {(name, kind) for kind in _of(value)}
    return found | set(_together(case.params))


def size(number: float) -> str:
    if number < 0:
        return "below zero"
    return next((word for most, word in reversed(CLASSES) if number >= most), f"{number:g}")


def _together(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what two parameters make of each other."""
    if {"T", "H"} <= params.keys() or {"T", "Dk"} <= params.keys() or {"T", "d_k"} <= params.keys():
        alike = params.get("S", params["T"]) == params["T"]
        said = "as many queries as keys" if alike else "not as many queries as keys"
        yield "mask", f"{params.get('mask', 'none')}, {said}"
    if "max_len" in params and "lengths" in params:
        yield "max_len", "full" if max(params["lengths"]) == params["max_len"] else "with room"
    if "script" in params:
        script, limit, bos = params["script"], params["max_len"], params["bos"]
        yield "script", "the begin token again" if bos in script else "no begin token"
        yield "script", f"ends {'past' if len(script) > limit + 1 else 'within'} the limit"
        if len(script) == limit + 1:
            yield "script", "ends just past the limit"
    if "ids" in params and "at" in params:
        source, target = params["at"]
        yield "at", "itself" if source == target else "later" if source < target else "earlier"


def _of(value: Any) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        yield str(value)
    elif isinstance(value, int):
        yield size(value)
    elif isinstance(value, float):  # a factor: what is near 1 changes nothing
        yield from [size(value)] if abs(value) >= CLASSES[1][0] else []
    elif isinstance(value, str):
        yield f"{size(len(value.split()))} words" if " " in value else value
    else:
        yield from _of_list(value)


def _of_list(entries: Any) -> Iterator[str]:
    yield f"{size(len(entries))} entries"
    if any(one in (0, "") for one in entries):
        yield "an empty one"
    if entries and all(one in (0, "") for one in entries):
        yield "nothing but empty ones"
    if any(one == other for one, other in itertools.pairwise(entries)):
        yield "the same twice in a row"
    if len(set(entries)) < len(entries):
        yield "the same twice"
    for one in entries:
        if isinstance(one, int):
            yield f"one of {size(one)}"

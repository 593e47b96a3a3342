"""Probe of the windows into which a text is cut."""

from typing import Any

from utils.checks.authoring.calling import name_of_error, unpack
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw

TOO_SHORT = "ValueError where no window fits"


def _inputs(T: int, V: int, N: int = 0, lacking: int = 0) -> Inputs:  # noqa: N803
    """Draw a text of N ids, or one that lacks some of those that a window and its target take."""
    return {"ids": Draw(N=N, T=T, V=V).integers(V, N or T + 1 - lacking), "length": T}


def _call(answer: Any, i: Inputs) -> dict[str, object]:
    if len(i["ids"]) <= i["length"]:
        return {"with too short a text": name_of_error(lambda: answer(i["ids"], i["length"]))}
    return unpack(answer(i["ids"], i["length"]), "inputs", "targets")


PROBES = by_exercise(
    Probe(
        "next_tokens",
        _inputs,
        _call,
        (
            case("three windows", True, N=16, T=5, V=90),
            case("a remainder", N=23, T=4, V=80),
            case("as many ids as five windows", N=20, T=4, V=70),
            case("one window", N=8, T=7, V=60),
            case("windows of one id", N=5, T=1, V=40),
            case("one id short of a window", demand=TOO_SHORT, T=5, V=50, lacking=1),
            case("far too short", demand=TOO_SHORT, T=6, V=30, lacking=4),
        ),
        gradient=False,
    ),
)

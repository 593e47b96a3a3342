"""Probes of what is computed from an encoder's vectors."""

from typing import Any

import torch
from torch.nn import functional as F

from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw

ATOL = 1e-4
_SMALL = 1e-5  # far below what is taken for rounding


def _state_inputs(off: int | None, kind: str, **params: Any) -> Inputs:
    """Draw the states of two encoders; from state `off` on they differ in one of several ways."""
    draw = Draw(off=off, kind=kind, **params)
    size, length, width = params["B"], params["T"], params["D"]
    theirs = [draw.normal(size, length, width) for _ in range(params["L"] + 1)]
    real = draw.mask("padding", size, length)
    assert real is not None
    real[-1, -1] = False  # some padding there must be
    ours = [state + draw.normal(*state.shape, scale=_SMALL / 8) for state in theirs]
    for n, state in enumerate(ours):
        if kind == "at padding":
            state[~real] = float("nan") if n else 1.0
        elif kind == "rounding everywhere":
            state.copy_(theirs[n] + 0.8 * ATOL)  # a vector's length is further apart than that
        if off is None or n < off:
            continue
        if kind == "growing":
            state.add_(0.1 * 2 ** (n - off))
        elif kind == "smaller":
            state[0, 0, 0] -= 0.5 / (n + 1)
        elif kind == "not a number":
            state[0, 0, -1] = float("nan")
        elif kind == "not a number in both":
            state[0, 0, -1] = theirs[n][0, 0, -1] = float("nan")
        elif kind == "a large number":
            theirs[n][0, 0, 0] = 300.0
            state[0, 0, 0] = 300.002
        elif kind == "one entry":
            state[0, 0, 0] += 20 * ATOL
        elif n == off:  # later states agree again
            state[0, 0, 1] += 0.3
    return {"ours": ours, "theirs": theirs, "real": real, "atol": ATOL}


def _call_difference(answer: Any, i: Inputs) -> dict[str, object]:
    return {"first difference": answer(i["ours"], i["theirs"], i["real"], i["atol"])}


def _vector_inputs(mask: str = "none", **params: Any) -> Inputs:
    draw = Draw(mask=mask, **params)
    size, length = params["B"], params["T"]
    real = draw.mask(mask, size, length)
    if mask == "empty":
        assert real is not None
        real[-1] = False
    everything = torch.ones(size, length, dtype=torch.bool)
    return {
        "vectors": draw.normal(size, length, params["D"]) + 0.5,
        "real": everything if real is None else real,
    }


def _loss_inputs(scale: float | None = None, **params: Any) -> Inputs:
    draw, shape = Draw(factor=scale, **params), (params["B"], params["D"])
    a = draw.normal(*shape)
    b = a + 2 * draw.normal(*shape)
    return {"a": F.normalize(a, dim=-1), "b": F.normalize(b, dim=-1), "factor": scale}


def _call_loss(answer: Any, i: Inputs) -> dict[str, object]:
    given = () if i["factor"] is None else (i["factor"],)
    # Of length 1 on the way, too: an answer may bring to length 1 again, as cosine_similarity does.
    a, b = (F.normalize(i[side], dim=-1) for side in "ab")
    return {"loss": answer(a, b, *given)}


PROBES = by_exercise(
    Probe(
        "first_difference",
        _state_inputs,
        _call_difference,
        (
            case("one layer off", True, L=3, B=4, T=5, D=6, off=2, kind="once"),
            case("from the start", L=3, B=2, T=4, D=5, off=0, kind="growing"),
            case("after the first layer", L=4, B=3, T=5, D=2, off=1, kind="growing"),
            case("the same", L=2, B=3, T=4, D=5, off=None, kind="same"),
            case("other at padding", L=2, B=3, T=5, D=4, off=None, kind="at padding"),
            case("one entry", L=3, B=4, T=6, D=5, off=2, kind="one entry"),
            case("smaller than it should be", L=3, B=5, T=4, D=2, off=0, kind="smaller"),
            case("not a number", L=2, B=3, T=6, D=5, off=1, kind="not a number"),
            case("in both", weight=2.0, L=2, B=3, T=5, D=4, off=1, kind="not a number in both"),
            case("rounding", weight=2.0, L=2, B=4, T=5, D=6, off=None, kind="rounding everywhere"),
            case("a large number", weight=2.0, L=3, B=5, T=6, D=4, off=2, kind="a large number"),
        ),
        gradient=False,
    ),
    Probe(
        "sentence_vectors",
        _vector_inputs,
        lambda answer, i: {"vectors": answer(i["vectors"], i["real"])},
        (
            case("no padding", required=True, B=2, T=4, D=3),
            case("padding", B=3, T=5, D=4, mask="padding"),
            case("real tokens anywhere", B=2, T=6, D=5, mask="random"),
            case("one sentence", B=1, T=3, D=4),
            case(
                "a sentence of padding",
                demand="a sentence without a real token",
                B=3,
                T=4,
                D=5,
                mask="empty",
            ),
            case("float64", demand="float64", B=4, T=3, D=5, mask="padding", dtype="float64"),
        ),
    ),
    Probe(
        "contrastive_loss",
        _loss_inputs,
        _call_loss,
        (
            case("three pairs", required=True, B=3, D=4),
            case("five pairs", B=5, D=3),
            case("another scale", B=4, D=6, scale=2.5),
            case("a large scale", B=6, D=5, scale=300.0),
            case("one pair", B=1, D=3),
            case("float64", demand="float64", B=4, D=5, dtype="float64"),
        ),
    ),
)

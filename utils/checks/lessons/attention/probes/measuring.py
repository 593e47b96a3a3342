"""Probes of what is measured on a layer: how far its gradient reaches, what order does to it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw

Run = Callable[[Tensor], Tensor]

_NOISE = 1e-5  # below it a distance of float32 numbers is rounding, and no two ways round alike


def _attention(x: Tensor) -> Tensor:
    return (x @ x.transpose(1, 2)).softmax(-1) @ x


def _recurrent(for_x: Tensor, for_h: Tensor) -> Run:
    """Make h_t = tanh(x_t U + h_(t-1) W)."""

    def run(x: Tensor) -> Tensor:
        states = [torch.zeros_like(x[:, 0])]
        for t in range(x.shape[1]):
            states.append(torch.tanh(x[:, t] @ for_x + states[-1] @ for_h))
        return torch.stack(states[1:], 1)

    return run


def _layer(i: Inputs) -> tuple[Run, Tensor]:
    """Return a layer (B, T, D) -> (B, T, D), and its parameter."""
    matrix, between, rows = i["matrix"], i["between"], i["rows"].detach().requires_grad_()
    kinds: dict[str, Run] = {
        "mixture": lambda x: between @ x @ matrix,
        "recurrent": _recurrent(i["for_x"], i["for_h"]),
        "attention": _attention,
        "attention with positions": lambda x: _attention(x + rows),
        "each word alone": lambda x: torch.tanh(x @ matrix),
    }
    return kinds[i["kind"]], rows


def _inputs(
    kind: str, order: tuple[int, ...] = (), after: bool = False, asks: bool = False, **params: Any
) -> Inputs:
    """Draw x and what its layer is made of; the layer itself is made where it is called."""
    draw = Draw(kind=kind, order=tuple(order), **params)  # a list where it came as JSON
    length, width = params["T"], params["D"]
    return {
        "x": draw.normal(params["B"], length, width),
        "matrix": draw.normal(width, width),
        "rows": draw.normal(length, width),
        "between": draw.normal(length, length),
        "for_x": draw.normal(width, width, scale=0.7),
        "for_h": draw.normal(width, width, scale=0.5),
        "kind": kind,
        "after": after,
        "asks": asks,
        **({"order": torch.tensor(order)} if order else {}),
    }


def _call_gradient(answer: Any, i: Inputs) -> dict[str, object]:
    x, (layer, parameter) = i["x"].requires_grad_(i["asks"]), _layer(i)
    found: dict[str, object] = {"norms": answer(layer, x)}
    if i["after"]:
        touched = [t for t in (x, parameter) if t.grad is not None]
        found |= {
            "x asks for gradients afterwards": x.requires_grad,
            "a gradient is left behind": bool(touched),
        }
    return found


def _call_order(answer: Any, i: Inputs) -> dict[str, object]:
    layer, _ = _layer(i)
    found = answer(layer, i["x"], i["order"])
    found = found.item() if isinstance(found, np.generic) else found  # as plain() reads it
    plain = {"a plain number": isinstance(found, (int, float))} if i["after"] else {}
    if not _is_number(found):
        return plain | {"distance": found}
    return plain | {"distance": 0.0 if abs(found) < _NOISE else float(found)}


def _is_number(found: object) -> bool:
    return isinstance(found, (int, float)) or (isinstance(found, Tensor) and found.dim() == 0)


PROBES = by_exercise(
    Probe(
        "gradient_by_distance",
        _inputs,
        _call_gradient,
        (
            case("a fixed mixture", required=True, B=1, T=4, D=3, kind="mixture"),
            case("a recurrent layer", B=1, T=6, D=2, kind="recurrent"),
            case("a batch", B=3, T=5, D=4, kind="attention"),
            case("words that reach nobody else", B=2, T=5, D=3, kind="each word alone"),
            case(
                "what is left behind",
                demand="nothing changed afterwards",
                B=2,
                T=3,
                D=4,
                kind="attention with positions",
                after=True,
            ),
            case("float64", demand="float64", B=2, T=4, D=3, kind="mixture", dtype="float64"),
            case(
                "an x that asks for gradients",
                demand="x as it was",
                B=3,
                T=4,
                D=2,
                kind="attention with positions",
                after=True,
                asks=True,
            ),
        ),
        gradient=False,
    ),
    Probe(
        "breaks_equivariance",
        _inputs,
        _call_order,
        (
            case("a mixture", required=True, B=1, T=4, D=3, kind="mixture", order=(1, 2, 0, 3)),
            case("attention", B=2, T=5, D=3, kind="attention", order=(2, 0, 1, 4, 3)),
            case(
                "attention with positions",
                B=2,
                T=4,
                D=3,
                kind="attention with positions",
                order=(3, 0, 1, 2),
            ),
            case("a batch", B=3, T=4, D=2, kind="recurrent", order=(1, 2, 3, 0)),
            case("each word alone", B=2, T=3, D=4, kind="each word alone", order=(1, 2, 0)),
            case(
                "what comes back",
                demand="a plain number",
                B=2,
                T=4,
                D=3,
                kind="attention with positions",
                order=(2, 3, 1, 0),
                after=True,
            ),
        ),
        gradient=False,
    ),
)

"""Probes that call the answers of lesson 00."""

from typing import Any

import torch

from utils.checks.authoring.counting import MORE, counted_call
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.attention.probes.attention import SHORTCUTS
from utils.checks.lessons.inputs import ALIKE, Draw


def _softmax_inputs(
    blocked: str = "none", dim: int = -1, shift: float = 0.0, **params: Any
) -> Inputs:
    draw = Draw(blocked=blocked, **params)
    x = draw.normal(params["B"], params["T"], params["S"]) + shift
    if blocked == "some":
        x[:, 1::2, ::3] = -torch.inf
    if blocked == "a whole row":
        x[-1, 1] = -torch.inf
    return {"x": x, "dim": dim}


def _mean_inputs(mask: str = "padding", zeros: bool = False, **params: Any) -> Inputs:
    draw = Draw(mask=mask, zeros=zeros, **params)
    x = draw.normal(params["B"], params["T"], params["D"])
    x = x.relu() if zeros else x
    return {"x": x, "mask": draw.mask(mask, params["B"], params["T"])}


def _dot_inputs(grows: bool = False, **params: Any) -> Inputs:
    draw = Draw(grows=grows, **params)
    size, depth = params["B"], params["D"]
    return {
        "a": draw.normal(size, params["T"], depth),
        "b": draw.normal(size, params["S"], depth),
        "grows": grows,
    }


def _call_dot(answer: Any, i: Inputs) -> dict[str, object]:
    """Return the products, and whether a batch twice as large in all sizes takes more calls."""
    a, b = i["a"], i["b"]
    if not i["grows"]:
        return {"products": answer(a, b)}
    products, more = counted_call(answer, (a, b), (a.repeat(2, 2, 2), b.repeat(2, 2, 2)))
    return {"products": products, MORE: more}


PROBES = by_exercise(
    Probe(
        "stable_softmax",
        _softmax_inputs,
        lambda answer, i: {"probabilities": answer(i["x"], i["dim"])},
        (
            case("small numbers, last axis", required=True, B=2, T=3, S=5),
            case("another axis", B=2, T=3, S=4, dim=1),
            case("the first axis", weight=0.5, B=4, T=2, S=3, dim=0),
            case("numbers around 10,000", B=2, T=3, S=5, scale=1e4),
            case("some entries are minus infinity", B=2, T=4, S=6, blocked="some"),
            case(
                "minus infinity beside -20,000",
                demand="minus infinity beside scores far below zero",
                B=3,
                T=2,
                S=7,
                blocked="some",
                shift=-2e4,
            ),
            case(
                "a row of minus infinity alone",
                demand="a slice of minus infinity alone",
                B=2,
                T=3,
                S=5,
                blocked="a whole row",
            ),
            case("float64", demand="float64", B=1, T=2, S=3, dtype="float64"),
        ),
        forbidden=(
            "torch.softmax",
            "torch.log_softmax",
            "torch.logsumexp",
            "torch.Tensor.softmax",
            "torch.Tensor.log_softmax",
            "torch.Tensor.logsumexp",
            "torch.nn.functional.softmax",
            "torch.nn.functional.log_softmax",
            "torch.nn.functional.softmin",
            "torch.nn.functional.gumbel_softmax",
            "torch.special.softmax",
            "torch.special.log_softmax",
            "torch.special.logsumexp",
            "torch.nn.Softmax",
            "torch.nn.LogSoftmax",
            "torch.nn.Softmin",
            "torch._softmax",
            "torch._safe_softmax",
            "torch._masked_softmax",
            "torch._log_softmax",
            "torch.logcumsumexp",
            "torch._logcumsumexp",
            "torch.Tensor.logcumsumexp",
            "torch.logaddexp",
            "torch.logaddexp2",
            "torch.Tensor.logaddexp",
            "torch.Tensor.logaddexp2",
            "torch.nn.functional.cross_entropy",
            "torch.nn.functional.ctc_loss",
            "torch.nn.CTCLoss",
            "torch.ctc_loss",
            "torch._ctc_loss",
            *SHORTCUTS,
        ),
    ),
    Probe(
        "masked_mean",
        _mean_inputs,
        lambda answer, i: {"mean": answer(i["x"], i["mask"])},
        (
            case("padding at the end", required=True, B=2, T=5, D=3),
            case("holes in the middle", B=3, T=7, D=2, mask="random"),
            case(
                "a sequence with nothing in it",
                demand="a sequence with nothing in it",
                B=3,
                T=4,
                D=2,
                mask="empty",
            ),
            case("some entries are zero", demand="entries of zero", B=3, T=6, D=4, zeros=True),
            case("as many positions as features", demand=ALIKE, B=2, T=3, D=3),
            case("float64", demand="float64", B=2, T=4, D=3, dtype="float64"),
            case("one sequence of single numbers", B=1, T=4, D=1),
        ),
        forbidden=("torch.masked.mean",),
    ),
    Probe(
        "pairwise_dot",
        _dot_inputs,
        _call_dot,
        (
            case("one pair of sequences", required=True, B=1, T=3, S=4, D=2),
            case("a batch", B=2, T=3, S=5, D=4),
            case("without a loop", demand="no loop", B=3, T=5, S=2, D=4, grows=True),
            case("as many keys as features", demand=ALIKE, B=2, T=3, S=4, D=4),
            case("float64", demand="float64", B=3, T=2, S=4, D=5, dtype="float64"),
            case("single vectors", B=3, T=1, S=1, D=2),
        ),
    ),
)

"""How the answers of lesson 00 are questioned."""

from typing import Any

import torch

from utils.checks.attention.probes import SHORTCUTS
from utils.checks.exercise import Inputs, Probe, case
from utils.checks.inputs import Draw


def _softmax_inputs(blocked: str = "none", dim: int = -1, **params: Any) -> Inputs:
    draw = Draw(blocked=blocked, **params)
    x = draw.normal(params["B"], params["T"], params["S"])
    if blocked == "some":
        x[:, 1::2, ::3] = -torch.inf
    if blocked == "a whole row":
        x[-1, 1] = -torch.inf
    return {"x": x, "dim": dim}


def _mean_inputs(mask: str = "padding", **params: Any) -> Inputs:
    draw = Draw(mask=mask, **params)
    x = draw.normal(params["B"], params["T"], params["D"])
    return {"x": x, "mask": draw.mask(mask, params["B"], params["T"])}


def _dot_inputs(**params: Any) -> Inputs:
    draw = Draw(**params)
    size, depth = params["B"], params["D"]
    return {
        "a": draw.normal(size, params["T"], depth),
        "b": draw.normal(size, params["S"], depth),
    }


PROBES = (
    Probe(
        "stable_softmax",
        _softmax_inputs,
        lambda answer, i: {"probabilities": answer(i["x"], i["dim"])},
        (
            case("small numbers, last axis", required=True, B=2, T=3, S=5),
            case("another axis", B=2, T=3, S=4, dim=1),
            case("numbers around 10,000", B=2, T=3, S=5, scale=1e4),
            case("some entries are minus infinity", B=2, T=4, S=6, blocked="some"),
            case("a row of minus infinity alone", B=2, T=3, S=5, blocked="a whole row"),
            case("float64", B=1, T=2, S=3, dtype="float64"),
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
            "torch.nn.functional.cross_entropy",
            *SHORTCUTS,
        ),
    ),
    Probe(
        "masked_mean",
        _mean_inputs,
        lambda answer, i: {"mean": answer(i["x"], i["mask"])},
        (
            case("padding at the end", required=True, B=2, T=5, D=3),
            case("holes in the middle", B=3, T=6, D=2, mask="random"),
            case("a sequence with nothing in it", B=3, T=4, D=2, mask="empty"),
            case("float64", B=2, T=4, D=3, dtype="float64"),
        ),
    ),
    Probe(
        "pairwise_dot",
        _dot_inputs,
        lambda answer, i: {"products": answer(i["a"], i["b"])},
        (
            case("one pair of sequences", required=True, B=1, T=3, S=4, D=2),
            case("a batch", B=2, T=3, S=5, D=4),
            case("float64", B=3, T=2, S=4, D=5, dtype="float64"),
        ),
    ),
)

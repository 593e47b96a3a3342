"""Probes that call the parts of lesson 05's layer: the norm and the feed-forward network."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_linear, require_module
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.dropping import factor_of, facts_of_dropping
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.requirements import (
    require_gain_and_bias,
)
from utils.checks.lessons.encoder.probes.weights import only_weights
from utils.checks.lessons.inputs import Draw
from utils.checks.observe.torch_state import seeded

SMALL = 1e-3  # of a hidden unit or its factor: what rounding may do
TOGETHER = ("the same units in all sentences", "the same units for all tokens", "whole tokens")
NORMALISERS = (
    "torch.nn.LayerNorm",
    "torch.nn.GroupNorm",
    "torch.nn.RMSNorm",
    "torch.nn.InstanceNorm1d",
    "torch.nn.BatchNorm1d",
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.group_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.instance_norm",
    "torch.nn.functional.batch_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "torch.group_norm",
    "torch.native_group_norm",
    "torch.rms_norm",
    "torch.batch_norm",
    "torch.native_batch_norm",
    "torch.instance_norm",
    "torch._fused_rms_norm",
    "torch._batch_norm_impl_index",
    "torch._native_batch_norm_legit",
    "torch._native_batch_norm_legit_no_training",
)


def _norm_inputs(
    eps: float | None = None,
    offset: float = 0.0,
    constant: bool = False,
    again: bool = False,
    train: bool = True,
    **params: Any,
) -> Inputs:
    draw, width = Draw(offset=offset, **params), params["D"]
    shape = [params[size] for size in ("B", "H", "T") if size in params]
    x = draw.normal(*shape, 1).expand(*shape, width) if constant else draw.normal(*shape, width)
    return {
        "x": x + offset,
        "weight": 1 + draw.normal(width, scale=0.4),
        "bias": draw.normal(width, scale=1.0),
        "eps": eps,
        "again": again,
        "train": train,
    }


def _call_norm(answer: Any, i: Inputs) -> dict[str, object]:
    width, eps = i["x"].shape[-1], i["eps"]
    made = answer(width) if eps is None else answer(width, eps)
    module = require_module(made, "LayerNorm").to(i["x"].dtype).train(i["train"])
    require_gain_and_bias(module)
    weights = {"weight": i["weight"], "bias": i["bias"]}
    if i["again"]:  # with vectors of another mean and spread, whose traces would show below
        for earlier in (i["x"][:, 1:].clone(), 3 * i["x"].flip(1) + 2):
            call_with(module, weights, earlier)
    output = call_with(module, weights, i["x"])
    own = {f"{name} at first": getattr(module, name).detach().clone() for name in weights}
    return {"output": output, **own}


def _feed_inputs(dropout: float | None = 0.0, train: bool = False, **params: Any) -> Inputs:
    draw, width, inner = Draw(**params), params["D"], params["F"]
    shape = [params[size] for size in ("B", "H", "T") if size in params]
    return {
        "x": draw.normal(*shape, width),
        "linear_1.weight": draw.normal(inner, width, scale=0.6),
        "linear_1.bias": draw.normal(inner, scale=0.6),
        "linear_2.weight": draw.normal(width, inner, scale=0.6),
        "linear_2.bias": draw.normal(width, scale=0.6),
        "dropout": dropout,
        "train": train,
    }


def _call_feed(answer: Any, i: Inputs) -> dict[str, object]:
    width, inner = i["linear_2.weight"].shape
    given, rate = (() if i["dropout"] is None else (i["dropout"],)), i["dropout"] or 0.0
    module = require_module(answer(width, inner, *given), "FeedForward")
    module.to(i["x"].dtype).train(i["train"])
    require_linear(module, "linear_1", width, inner, bias=True)
    require_linear(module, "linear_2", inner, width, bias=True)
    weights = only_weights(i)
    if 0 < rate < 1:
        return _see_dropout(module, weights, i)
    return {"output": settled(lambda: call_with(module, weights, i["x"]), rate)}


def _see_dropout(module: nn.Module, weights: dict[str, Tensor], i: Inputs) -> dict[str, object]:
    """Describe what dropout does to hidden units, which linear_2 passes on one by one.

    Behind them, outputs are left that hold a bias of linear_2 and nothing else.
    """
    width, units = weights["linear_2.weight"].shape
    bias = torch.where(torch.arange(width) < units, 0.0, 1.0)
    weights = weights | {"linear_2.weight": torch.eye(width, units), "linear_2.bias": bias}
    with seeded(0):
        calm = call_with(module.eval(), weights, i["x"].clone())
        wild = call_with(module.train(), weights, i["x"])
    if not (isinstance(calm, Tensor) and isinstance(wild, Tensor)) or calm.shape != wild.shape:
        return {"output in eval mode": calm, "output in train mode": wild}
    before, after = calm.detach()[..., :units], wild.detach()[..., :units]
    active, left = before > SMALL, after.abs() > SMALL
    factor = factor_of(after[active & left], before[active & left], SMALL)
    return {
        "output in eval mode": calm.detach(),
        "the bias of linear_2 is left whole": bool((wild[..., units:] == 1).all()),
        "some hidden units are dropped": not bool(left[active].all()),
        "the others are multiplied by one number": factor != 0,
        "what the others are multiplied by": factor,
        **facts_of_dropping(active & ~left, active & left, i["dropout"], TOGETHER),
    }


PROBES = by_exercise(
    Probe(
        "LayerNorm",
        _norm_inputs,
        _call_norm,
        (
            case("one batch", required=True, B=2, T=3, D=4),
            case("one vector", demand="any number of axes", D=5),
            case("four axes", demand="any number of axes", B=2, H=3, T=4, D=6),
            case("equal entries", B=2, T=4, D=3, constant=True),
            case("small numbers, where epsilon counts", B=3, T=2, D=5, scale=0.003),
            case("another epsilon", B=2, T=4, D=5, eps=0.1),
            case("far from zero", demand="numbers far from zero", B=2, T=3, D=6, offset=100.0),
            case("in eval mode", B=3, T=4, D=5, train=False),
            case("float64", demand="float64", B=2, T=3, D=5, offset=1000.0, dtype="float64"),
            case(
                "after calls with other vectors",
                demand="calls that do not depend on earlier ones",
                B=2,
                T=4,
                D=7,
                again=True,
            ),
            case("single tokens", B=3, T=1, D=6),
        ),
        forbidden=(*NORMALISERS, "utils.reference.modules.LayerNorm"),
    ),
    Probe(
        "FeedForward",
        _feed_inputs,
        _call_feed,
        (
            case("one batch", required=True, B=2, T=3, D=4, F=6),
            case("one vector", demand="any number of axes", D=3, F=5),
            case("dropout in eval mode", B=2, T=4, D=3, F=5, dropout=1.0),
            case(
                "dropout of everything in train mode", B=2, T=3, D=4, F=5, dropout=1.0, train=True
            ),
            case(
                "dropout of a quarter in train mode",
                B=4,
                T=50,
                D=24,
                F=20,
                dropout=0.25,
                train=True,
            ),
            case(
                "made with its defaults",
                demand="the defaults of the stub",
                B=3,
                T=5,
                D=6,
                F=8,
                dropout=None,
                train=True,
            ),
            case("float64", demand="float64", B=3, T=2, D=4, F=7, dtype="float64"),
            case("a hidden layer of one unit", B=3, T=2, D=4, F=1),
            case("four axes", demand="any number of axes", B=2, H=4, T=3, D=5, F=6),
        ),
        forbidden=("utils.reference.modules.FeedForward",),
    ),
)

"""Probe of a convolution over neighbouring words."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_module
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import ALIKE, Draw
from utils.checks.observation import AnswerError, ProblemKind, describe

LOUD = 30.0  # what stands at padding is larger than what counts


def _neighbours_inputs(
    *, lengths: list[int], width: int | None = None, fresh: bool = False, **params: Any
) -> Inputs:
    draw = Draw(lengths=lengths, width=width, fresh=fresh, **params)
    features, longest = params["D"], max(lengths)
    real = torch.arange(longest) < torch.tensor(lengths)[:, None]  # (B, T)
    x = draw.normal(len(lengths), longest, features)
    return {
        "x": torch.where(real.unsqueeze(-1), x, x * LOUD),
        "mask": None if real.all() else real.unsqueeze(1),
        "width": width,
        "fresh": fresh,
        "conv.weight": draw.normal(features, 1, width or 3),
        "conv.bias": draw.normal(features, scale=0.5),
    }


def _call_neighbours(answer: Any, i: Inputs) -> dict[str, object]:
    x, mask = i["x"], i["mask"]
    given = () if i["width"] is None else (i["width"],)
    module = require_module(answer(x.shape[-1], *given), "Neighbours").to(x.dtype)
    _require_convolution(module, i["conv.weight"])
    asked = (x,) if mask is None else (x, mask)
    x, mask = x.clone(), None if mask is None else mask.clone()  # a call may write into them
    if i["fresh"]:
        return {
            "x comes back before training": _is_same(_real_rows(module(*asked), mask), x, mask),
            "the convolution can learn": _can_learn(module),
        }
    weights = {name: tensor for name, tensor in i.items() if name.startswith("conv.")}
    output = settled(lambda: call_with(module, weights, *asked), None)
    results = {"output": _real_rows(output, mask)}
    if mask is not None:
        short = x[-1:, : int(mask[-1].sum())]
        results["the last sentence alone"] = call_with(module, weights, short)
    return results


def _require_convolution(module: nn.Module, weight: Tensor) -> None:
    found = getattr(module, "conv", None)
    if not isinstance(found, nn.Conv1d):
        what = "is missing" if found is None else f"is {describe(found)}"
        raise AnswerError(ProblemKind.ATTRIBUTE, f"self.conv {what}; it should be an nn.Conv1d.")
    if found.weight.shape != weight.shape:
        got, wanted = tuple(found.weight.shape), tuple(weight.shape)
        raise AnswerError(
            ProblemKind.ATTRIBUTE,
            f"self.conv has weights of shape {got}; they should be {wanted} = (D, 1, width): one "
            "small filter for each feature.",
        )


def _real_rows(output: Any, mask: Tensor | None) -> Any:
    """Set the output at padding to zero: nobody reads it, and right answers differ there."""
    if mask is None or not isinstance(output, Tensor) or output.ndim != 3:
        return output
    if output.shape[:2] != (len(mask), mask.shape[-1]):
        return output
    return output.masked_fill(~mask.transpose(1, 2), 0.0)


def _can_learn(module: nn.Module) -> bool:
    return all(parameter.requires_grad for parameter in module.parameters())


def _is_same(output: Any, x: Tensor, mask: Tensor | None) -> bool:
    if not isinstance(output, Tensor) or output.shape != x.shape:
        return False
    return torch.allclose(output, _real_rows(x, mask), atol=1e-6)


PROBES = by_exercise(
    Probe(
        "Neighbours",
        _neighbours_inputs,
        _call_neighbours,
        (
            case("one sentence", required=True, lengths=[6], D=4),
            case("a batch", required=True, lengths=[5, 5], D=7),
            case("padding", lengths=[4, 6, 2], D=5),
            case("as many features as words", demand=ALIKE, lengths=[4, 3], D=4),
            case(
                "before training",
                demand="no change before training",
                lengths=[5, 3],
                D=6,
                fresh=True,
            ),
            case("five neighbours", demand="another width", lengths=[7, 6], D=4, width=5),
            case("float64", demand="float64", lengths=[5, 3], D=4, dtype="float64"),
            case("one word", lengths=[1], D=6),
        ),
    ),
)

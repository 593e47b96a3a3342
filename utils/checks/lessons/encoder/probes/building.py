"""Probes that call the answers of lesson 05."""

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_module
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.dropping import facts_of_dropping
from utils.checks.authoring.prediction import asked
from utils.checks.authoring.swapping import call_with, use_with
from utils.checks.exercise import ExerciseKind, Inputs, Probe, by_exercise, case
from utils.checks.lessons.attention.probes.attention import broadcast_mask
from utils.checks.lessons.encoder.probes.requirements import (
    DEFAULT_DROPOUT,
    LAYER_PARTS,
    dropout_of,
    require_parts,
)
from utils.checks.lessons.encoder.probes.stand_ins import EARLIER, LAYER, PARTS
from utils.checks.lessons.encoder.probes.weights import (
    layer_weights,
    only_weights,
)
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.multi_head_attention.probes.heads import WHOLE
from utils.checks.observation import AnswerError, ProblemKind, describe
from utils.checks.observe.substitution import borrowed
from utils.checks.observe.torch_state import seeded
from utils.experiments.broken_layer import broken_layer

TOGETHER = ("the same entries in all sentences", "whole columns", "whole tokens")
BETWEEN = 20.0  # what attention adds and what the feed-forward adds, 1 and 100 times a factor
CHANGED = "layers that change when one is trained"
ROUNDING = 1e-2  # of a sum of numbers up to 200


def _layer_inputs(
    *,
    mask: str = "none",
    dropout: float = 0.0,
    train: bool = False,
    norm_first: bool = False,
    again: bool = False,
    defaults: bool = False,
    added: bool = False,
    **params: Any,
) -> Inputs:
    draw = Draw(mask=mask, norm_first=norm_first, **params)
    size, length = params["B"], params["T"]
    return {
        "again": again,
        "defaults": defaults,
        "added": added,
        "x": draw.normal(size, length, params["D"]),
        "mask": broadcast_mask(draw, mask, None, size, length, length),
        "n_heads": params["H"],
        "dropout": dropout,
        "train": train,
        "norm_first": norm_first,
        **layer_weights(draw, params["D"], params["F"]),
    }


def _call_layer(answer: Any, i: Inputs) -> dict[str, object]:
    width, inner = i["feed_forward.linear_2.weight"].shape
    options = () if i["defaults"] else (i["dropout"], i["norm_first"])
    made = answer(width, i["n_heads"], inner, *options)
    layer = require_module(made, "EncoderLayer").to(i["x"].dtype).train(i["train"])
    require_parts(layer, *LAYER_PARTS)
    weights = only_weights(i)
    if i["added"]:
        return _see_added(layer, weights, i["x"], i["dropout"])
    x = i["x"].clone()  # a call may write into what it is given
    if i["again"]:
        before = call_with(layer, weights, x.clone())
        call_with(layer, weights, x[:1, 1:].clone())
        call_with(layer, weights, x.clone(), ~i["mask"])
    output = settled(lambda: call_with(layer, weights, i["x"], i["mask"]), i["dropout"])
    given = DEFAULT_DROPOUT if i["defaults"] else i["dropout"]
    seen = {"output": output, **(_rates(layer, given) if given else {})}
    if i["again"]:
        later = call_with(layer, weights, x)
        seen["without a mask the output is what it was before"] = _is_same(before, later)
    return seen


def _is_same(one: object, other: object) -> bool:
    # An output in a tuple is a fault of another kind, and told by itself.
    one, other = (x[0] if isinstance(x, tuple) and x else x for x in (one, other))
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return False
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-4)


def _see_added(layer: Any, weights: dict[str, Tensor], x: Tensor, rate: float) -> dict[str, object]:
    """Describe what dropout does to sub-layers that give 1 and 100, whatever they read.

    In pre-norm the difference of output and x is then made of these numbers alone. The layer gets
    copies of x: one that writes into them adds as much, and other cases see the writing.
    """
    constants = {"self_attention.w_o": 1.0, "feed_forward.linear_2": 100.0}
    for name, constant in constants.items():
        weights = weights | {
            f"{name}.weight": torch.zeros_like(weights[f"{name}.weight"]),
            f"{name}.bias": torch.full_like(weights[f"{name}.bias"], constant),
        }
    read: list[Tensor] = []
    for part in (layer.self_attention, layer.feed_forward):
        part.register_forward_pre_hook(
            lambda _, given: read.extend(one for one in given[:1] if isinstance(one, Tensor))
        )
    with seeded(0):
        output = call_with(layer, weights, x.clone())
    if not isinstance(output, Tensor) or output.shape != x.shape:
        return {"output": output}
    whole = {"what each sub-layer reads is left whole": all(bool(one.all()) for one in read)}
    calm = _calm_factor(call_with(layer.eval(), weights, x.clone()), x)
    in_eval_mode = {"in eval mode what sub-layers add is multiplied by": calm}
    return _facts_of_added((output - x).detach(), rate) | whole | in_eval_mode


def _calm_factor(output: object, x: Tensor) -> str:
    if not isinstance(output, Tensor) or output.shape != x.shape:
        return "nothing"
    added = (output - x).detach()
    alike = (added - added.max()).abs().max() < ROUNDING
    return f"{added.max().item() / 101:.2f}" if alike else "several factors"


def _facts_of_added(added: Tensor, rate: float) -> dict[str, object]:
    """Tell dropped entries from the others in a sum of 1 and 100, each with a factor or dropped."""
    attended, fed = _two_sums(added, 1 / (1 - rate))
    sums = (0.0, attended, fed, attended + fed)
    found = torch.stack([(added - total).abs() < ROUNDING for total in sums])
    made_of_both = bool(found.any(0).all()) and fed > 0
    facts: dict[str, object] = {"what a layer adds to x is what its sub-layers give": made_of_both}
    if made_of_both:
        kept = {"attention": found[1] | found[3], "the feed-forward": found[2] | found[3]}
        apart = bool((found[1] | found[2]).any()) or not found[0].any()
        facts["both sub-layers are dropped at the same entries"] = not apart
        for (name, left), factor in zip(kept.items(), (attended, fed / 100), strict=True):
            told = facts_of_dropping(~left, left, rate, TOGETHER)
            facts[f"what is left of what {name} adds is multiplied by"] = f"{factor:.2f}"
            facts |= {f"{what}, of what {name} adds": said for what, said in told.items()}
    return facts


def _two_sums(added: Tensor, asked: float) -> tuple[float, float]:
    """Return what is added where attention alone is left, and where the feed-forward alone is.

    Factors are small, so the first is far below the second. Where each is never left without the
    other, the factor that was asked for tells them apart.
    """
    attended, fed = _least(added[added.abs() < BETWEEN]), _least(added[added.abs() >= BETWEEN])
    if not attended and abs(fed - 101 * asked) < ROUNDING:
        return asked, 100 * asked
    return attended or float(added.max()) - fed, fed


def _least(numbers: Tensor) -> float:
    """Return the smallest number that is not 0, or 0."""
    others = numbers[numbers.abs() > ROUNDING]
    return others.min().item() if others.numel() else 0.0


def _rates(layer: Any, given: float) -> dict[str, object]:
    """Return the dropout rate of each part, or the given one where a part does not tell."""
    parts = {"self_attention": layer.self_attention, "feed_forward": layer.feed_forward}
    rates = {name: dropout_of(part) for name, part in parts.items()}
    return {
        f"dropout of self.{name}": given if rate is None else rate for name, rate in rates.items()
    }


class _TheirLayer(nn.Module):
    """The parts of the layer to repair; called directly, it still has the fault.

    It is not an EncoderLayer, whose forward would be the repair.
    """

    def __init__(self, *sizes: Any) -> None:
        super().__init__()
        for name, part in borrowed(LAYER)(*sizes).named_children():
            self.add_module(name, part)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, T, D) to (B, T, D), wrongly."""
        return broken_layer(self, x, mask)


def _call_repaired_layer(answer: Any, i: Inputs) -> dict[str, object]:
    width, inner = i["feed_forward.linear_2.weight"].shape
    layer = _TheirLayer(width, i["n_heads"], inner, 0.0).to(i["x"].dtype).eval()
    weights = only_weights(i)
    return {"output": use_with(layer, weights, lambda own: answer(own, i["x"], i["mask"]))}


SPARE = 3  # layers that can be made beyond those that are asked for


def _stack_inputs(**params: Any) -> Inputs:
    draw, count, width = Draw(**params), params["L"] + SPARE, params["D"]
    weights, biases = draw.normal(count, width + 1, width), draw.normal(count, width + 1)
    x = draw.normal(2, width)
    return {"L": params["L"], "x": x, "weights": weights, "biases": biases}


def _call_stack(answer: Any, i: Inputs) -> dict[str, object]:
    """Return what each layer computes, and all parameters: they tell where layers are one."""
    weights = itertools.cycle(zip(i["weights"], i["biases"], strict=True))

    def make_layer() -> nn.Module:
        return _linear(*next(weights))

    make_layer.__module__, make_layer.__qualname__ = "", "make_layer"  # errors quote them
    stack = answer(make_layer, i["L"])
    if not isinstance(stack, nn.ModuleList):
        kind = ProblemKind.NOTHING if stack is None else ProblemKind.RETURN
        raise AnswerError(kind, f"It should return an nn.ModuleList, not {describe(stack)}.")
    with torch.no_grad():
        outputs = [layer(i["x"]) for layer in stack]
    return {
        "outputs": outputs,
        "separate layers": len({id(layer) for layer in stack}),
        "parameters": list(stack.parameters()),
        CHANGED: max(_changed_with(stack, i["x"]), default=0),
    }


def _changed_with(stack: nn.ModuleList, x: Tensor) -> Iterator[int]:
    """Yield for each layer how many give something else when its numbers change, and undo it."""
    with torch.no_grad():
        before = [layer(x) for layer in stack]
        for layer in stack:
            kept = [parameter.clone() for parameter in layer.parameters()]
            for parameter in layer.parameters():
                parameter.add_(1.0)
            after = [one(x) for one in stack]
            yield sum(not torch.equal(*pair) for pair in zip(before, after, strict=True))
            for parameter, old in zip(layer.parameters(), kept, strict=True):
                parameter.copy_(old)


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    n_out, n_in = weight.shape
    made = nn.Linear(n_in, n_out)
    made.weight.data, made.bias.data = weight.clone(), bias.clone()
    return made


PROBES = by_exercise(
    Probe(
        "EncoderLayer",
        _layer_inputs,
        _call_layer,
        (
            case("post-norm", required=True, B=2, T=3, D=8, H=4, F=5),
            case("pre-norm", B=2, T=3, D=8, H=4, F=5, norm_first=True),
            case("padding", B=3, T=5, D=6, H=2, F=7, mask="padding"),
            case(
                "pre-norm and causal mask", B=2, T=5, D=6, H=3, F=7, mask="causal", norm_first=True
            ),
            case(
                "a row with nothing allowed",
                demand="a row with nothing allowed",
                B=2,
                T=5,
                D=8,
                H=4,
                F=3,
                mask="empty",
            ),
            case(
                "made with its defaults",
                demand="the defaults of the stub",
                B=2,
                T=3,
                D=8,
                H=4,
                F=7,
                defaults=True,
            ),
            case(
                "after calls with other sentences and masks",
                demand="calls that do not depend on earlier ones",
                B=2,
                T=5,
                D=8,
                H=4,
                F=6,
                mask="random",
                again=True,
            ),
            case("dropout in eval mode", B=2, T=3, D=6, H=1, F=5, dropout=1.0),
            # No gradients: all of them are zero here, and zeros made anew have none.
            case(
                "dropout of everything",
                results_only=True,
                B=2,
                T=3,
                D=8,
                H=4,
                F=5,
                dropout=1.0,
                train=True,
            ),
            case(
                "dropout of everything, pre-norm",
                results_only=True,
                B=2,
                T=5,
                D=6,
                H=3,
                F=7,
                dropout=1.0,
                train=True,
                norm_first=True,
            ),
            case(
                "dropout of a quarter, pre-norm",
                B=6,
                T=9,
                D=12,
                H=2,
                F=5,
                dropout=0.25,
                train=True,
                norm_first=True,
                added=True,
            ),
            case(
                "float64", demand="float64", B=1, T=4, D=6, H=3, F=5, mask="random", dtype="float64"
            ),
            case("one token", B=2, T=1, D=6, H=3, F=5),
        ),
        forbidden=(*WHOLE, "utils.reference.modules.EncoderLayer"),
        stand_ins={**EARLIER, **PARTS},
    ),
    Probe(
        "repaired_layer",
        _layer_inputs,
        _call_repaired_layer,
        (
            case("one sentence", required=True, B=1, T=3, D=8, H=4, F=5),
            case("a batch", required=True, B=2, T=4, D=6, H=3, F=5),
            case("padding", B=3, T=5, D=6, H=2, F=7, mask="padding"),
            case("one token", B=2, T=1, D=6, H=3, F=5),
            case(
                "causal mask, float64",
                demand="float64",
                B=3,
                T=5,
                D=8,
                H=4,
                F=6,
                mask="causal",
                dtype="float64",
            ),
        ),
        kind=ExerciseKind.REPAIR,
        forbidden=(*WHOLE, "utils.reference.modules.EncoderLayer"),
    ),
    asked("predict_feed_forward_share"),
    Probe(
        "repaired_stack",
        _stack_inputs,
        _call_stack,
        (
            case("three layers", required=True, L=3, D=4),
            case("one layer", L=1, D=3),
        ),
        kind=ExerciseKind.REPAIR,
        gradient=False,
    ),
)

"""Probes that call the answers of lesson 02."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_linear, require_module, unpack
from utils.checks.authoring.counting import MORE, counted_call
from utils.checks.authoring.determinism import settled
from utils.checks.authoring.devices import elsewhere, is_made_there
from utils.checks.authoring.prediction import asked
from utils.checks.authoring.swapping import call_with, parameters_at
from utils.checks.authoring.trying_tests import try_test
from utils.checks.exercise import ExerciseKind, Inputs, Probe, by_exercise, case
from utils.checks.lessons.attention.probes.versions import version
from utils.checks.lessons.inputs import Draw

SHORTCUTS = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerEncoder",
    "torch.nn.Transformer",
    "torch._native_multi_head_attention",
    "torch._transformer_encoder_layer_fwd",
    "torch._scaled_dot_product_attention_math",
    "torch._scaled_dot_product_flash_attention_for_cpu",
)
STAND_IN = "utils.reference.attention.plain.scaled_dot_product_attention"
EMPTY_ROW = "a row with nothing allowed"


def _additive_inputs(grows: bool = False, **params: Any) -> Inputs:
    draw = Draw(grows=grows, **params)
    size, hidden = params["B"], params["A"]
    return {
        "query": draw.normal(size, params["Dq"]),
        "keys": draw.normal(size, params["S"], params["Dk"]),
        "w_q": draw.normal(hidden, params["Dq"], scale=1.0),
        "w_k": draw.normal(hidden, params["Dk"], scale=1.0),
        "v": draw.normal(hidden, scale=1.0),
        "grows": grows,
    }


def _call_additive(answer: Any, i: Inputs) -> dict[str, object]:
    """Return the scores, and whether twice as many sentences and keys take more calls."""
    query, keys, *weights = (i[name] for name in ("query", "keys", "w_q", "w_k", "v"))
    if not i["grows"]:
        return {"scores": answer(query, keys, *weights)}
    larger = (query.repeat(2, 1), keys.repeat(2, 2, 1), *weights)
    scores, more = counted_call(answer, (query, keys, *weights), larger)
    return {"scores": scores, MORE: more}


def _multiplicative_inputs(**params: Any) -> Inputs:
    """Draw a query and keys; a case without Dk has as many entries in a key as in the query."""
    draw = Draw(**params)
    size, of_query = params["B"], params["Dq"]
    of_key = params.get("Dk", of_query)
    return {
        "query": draw.normal(size, of_query),
        "keys": draw.normal(size, params["S"], of_key),
        "w": draw.normal(of_query, of_key, scale=1.0),
    }


def _attend_inputs(mask: str = "none", **params: Any) -> Inputs:
    draw = Draw(mask=mask, **params)
    size, length = params["B"], params["S"]
    return {
        "scores": draw.normal(size, length),
        "values": draw.normal(size, length, params["Dv"], scale=1.0),
        "mask": draw.mask(mask, size, length),
    }


def broadcast_mask(draw: Draw, kind: str, heads: int | None, *sizes: int) -> Tensor | None:
    """Draw a mask as lessons shape it: (B, 1, S) padding, (1, T, S) causal, else (B, T, S).

    With heads, an axis of size 1 follows the first.
    """
    size, queries, keys = sizes
    shapes = {"padding": (size, 1, keys), "causal": (1, queries, keys)}
    mask = draw.mask(kind, *shapes.get(kind, sizes))
    return mask if mask is None or heads is None else mask.unsqueeze(1)


def _attention_inputs(mask: str = "none", H: int | None = None, **params: Any) -> Inputs:  # noqa: N803
    """Draw queries, keys and values; a case without S has as many keys as queries."""
    draw = Draw(mask=mask, H=H, **params)
    size, queries = params["B"], params["T"]
    keys = params.get("S", queries)
    lead = (size,) if H is None else (size, H)
    return {
        "q": draw.normal(*lead, queries, params["Dk"]),
        "k": draw.normal(*lead, keys, params["Dk"]),
        "v": draw.normal(*lead, keys, params["Dv"], scale=1.0),
        "mask": broadcast_mask(draw, mask, H, size, queries, keys),
    }


def _self_attention_inputs(
    mask: str = "none", earlier: str = "", trained: bool = False, **params: Any
) -> Inputs:
    """Draw what a module is called with, after a call with other numbers if `earlier` is a mask.

    Values are as wide as the inputs where no d_v is given.
    """
    draw = Draw(mask=mask, **params)
    size, length, width = params["B"], params["T"], params["D"]
    d_k, d_v = params["d_k"], params.get("d_v", width)
    before = {"earlier": _self_attention_inputs(earlier, **params)} if earlier else {}
    return before | {
        "x": draw.normal(size, length, width),
        "w_q": draw.normal(d_k, width, scale=0.6),
        "w_k": draw.normal(d_k, width, scale=0.6),
        "w_v": draw.normal(d_v, width, scale=0.6),
        "mask": broadcast_mask(draw, mask, None, size, length, length),
        "trained": trained,
    }


def _call_self_attention(answer: Any, i: Inputs) -> dict[str, object]:
    width, d_k, d_v = i["x"].shape[-1], len(i["w_q"]), len(i["w_v"])
    module = require_module(answer(width, d_k, d_v), "SelfAttention").to(i["x"].dtype)
    for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
        require_linear(module, name, width, size, bias=False)
    weights = {f"{name}.weight": i[name] for name in ("w_q", "w_k", "w_v")}
    given = _for_layers_nobody_asked_for(module, weights) | weights
    if "earlier" in i:
        call_with(module, given, i["earlier"]["x"], i["earlier"]["mask"])
    seen = weights_first(settled(lambda: call_with(module, given, i["x"], i["mask"]), None))
    return seen | (trained_alone(module, weights) if i["trained"] else {})


def _for_layers_nobody_asked_for(
    module: nn.Module, weights: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Make fixed numbers for all other linear layers: a draw would be another in each answer."""
    asked = _behind(module, weights)
    return {
        f"{layer}.{name}": torch.linspace(-1, 1, old.numel(), dtype=old.dtype).view(old.shape)
        for layer, part in module.named_modules()
        if isinstance(part, nn.Linear)
        for name, old in part.named_parameters(recurse=False)
        if id(old) not in asked
    }


def _behind(module: nn.Module, paths: Iterable[str]) -> set[int]:
    """Return which parameters stand at these paths, whatever other names they have."""
    return {id(parameter) for path in paths for parameter in parameters_at(module, path)}


def trained_alone(module: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, object]:
    """Tell whether these parameters, and no others, are trained."""
    trained = {id(parameter) for parameter in module.parameters() if parameter.requires_grad}
    alone = trained == _behind(module, weights)
    return {"the layers asked for are trained, and nothing else": alone}


def weights_first(result: object, name: str = "output") -> dict[str, object]:
    """Name the parts of (output, weights), weights first: they are judged first and tell more.

    Weights are returned to be looked at: no gradient is asked through them.
    """
    parts = unpack(result, name, "weights")
    weights = parts["weights"]
    seen = weights.detach() if isinstance(weights, Tensor) else weights
    return {"weights": seen, name: parts[name]}


def _call_attention(answer: Any, i: Inputs) -> dict[str, object]:
    return weights_first(settled(lambda: answer(i["q"], i["k"], i["v"], i["mask"]), None))


def _padding_inputs(lengths: list[int], max_len: int, *, elsewhere: bool = False) -> Inputs:
    return {"lengths": torch.tensor(lengths), "max_len": max_len, "elsewhere": elsewhere}


def _call_padding(answer: Any, i: Inputs) -> dict[str, object]:
    lengths, max_len = i["lengths"], i["max_len"]
    there = elsewhere(lengths)  # first, so that what is kept of this call shows in the next
    made = is_made_there(lambda: answer(there, max_len)) if i["elsewhere"] else True
    found = {"mask": answer(lengths, max_len)}
    return found | ({"the mask is where the lengths are": made} if i["elsewhere"] else {})


PROBES = by_exercise(
    asked("predict_score_spread"),
    Probe(
        "additive_scores",
        _additive_inputs,
        _call_additive,
        (
            case("a batch", required=True, B=2, S=5, Dq=4, Dk=3, A=6),
            case("one sentence", demand="a batch of one", B=1, S=4, Dq=3, Dk=2, A=5),
            case("large inputs", B=2, S=3, Dq=4, Dk=5, A=6, scale=30.0),
            case("without a loop", demand="no loop", B=3, S=4, Dq=5, Dk=2, A=6, grows=True),
            case("float64", demand="float64", B=3, S=4, Dq=2, Dk=5, A=6, dtype="float64"),
            case("one key for each", demand="a single key", B=3, S=1, Dq=2, Dk=4, A=5),
        ),
    ),
    Probe(
        "multiplicative_scores",
        _multiplicative_inputs,
        lambda answer, i: {"scores": answer(i["query"], i["keys"], i["w"])},
        (
            case("a batch", required=True, B=2, S=5, Dq=4, Dk=3),
            case("more features in the key", B=3, S=4, Dq=2, Dk=5),
            case("as many features in both", B=2, S=3, Dq=4),
            case("one key for each", demand="a single key", B=3, S=1, Dq=2, Dk=4),
            case("float64", demand="float64", B=2, S=4, Dq=3, Dk=5, dtype="float64"),
            case("one sentence", B=1, S=4, Dq=3, Dk=6),
        ),
    ),
    Probe(
        "attend",
        _attend_inputs,
        lambda answer, i: weights_first(answer(i["scores"], i["values"], i["mask"]), "context"),
        (
            case("without a mask", required=True, B=2, S=5, Dv=3),
            case("the same sizes, with a mask", B=2, S=5, Dv=3, mask="random"),
            case("padding at the end", B=3, S=6, Dv=2, mask="padding"),
            case("the same sizes, without a mask", B=3, S=6, Dv=2),
            case("padding and large scores", B=3, S=5, Dv=4, mask="padding", scale=300.0),
            case("one key allowed", B=4, S=6, Dv=2, mask="keep-one", scale=3e4),
            case(EMPTY_ROW, demand=EMPTY_ROW, B=4, S=5, Dv=3, mask="empty"),
            case("float64", demand="float64", B=2, S=4, Dv=3, mask="random", dtype="float64"),
            case("one position", B=3, S=1, Dv=2),
            case("one sentence", demand="a batch of one", B=1, S=6, Dv=4),
        ),
        forbidden=SHORTCUTS,
    ),
    Probe(
        "scaled_dot_product_attention",
        _attention_inputs,
        _call_attention,
        (
            case("without a mask", required=True, B=2, T=3, S=5, Dk=4, Dv=6),
            case("as many queries as keys", required=True, B=3, T=5, Dk=4, Dv=2),
            case("with a heads axis", B=2, H=3, T=4, S=5, Dk=6, Dv=7),
            case("padding", B=3, T=4, S=6, Dk=5, Dv=2, mask="padding"),
            case("self-attention with padding", B=2, T=5, Dk=6, Dv=4, mask="padding"),
            case("the first sizes, with a mask", B=2, T=3, S=5, Dk=4, Dv=6, mask="random"),
            case("causal mask and heads", B=2, H=3, T=5, S=6, Dk=4, Dv=7, mask="causal"),
            case("large scores, any mask", B=2, T=4, S=5, Dk=3, Dv=6, mask="random", scale=12.0),
            case("one key allowed", B=2, T=4, S=5, Dk=3, Dv=6, mask="keep-one", scale=300.0),
            case(EMPTY_ROW, demand=EMPTY_ROW, B=3, T=4, S=5, Dk=2, Dv=6, mask="empty"),
            case(
                "float64",
                demand="float64",
                B=2,
                T=3,
                S=4,
                Dk=5,
                Dv=6,
                mask="padding",
                dtype="float64",
            ),
            case("causal self-attention", weight=0.25, B=2, T=4, Dk=5, Dv=3, mask="causal"),
            case("self-attention, any mask", weight=0.25, B=3, T=5, Dk=2, Dv=4, mask="random"),
            case("one query, one key", weight=0.25, B=2, T=1, S=1, Dk=3, Dv=5),
        ),
        forbidden=SHORTCUTS,
    ),
    Probe(
        "padding_mask",
        _padding_inputs,
        _call_padding,
        (
            case("three sentences", required=True, lengths=[2, 5, 3], max_len=5),
            case("longer than every sentence", lengths=[1, 4], max_len=6),
            case("an empty sentence", lengths=[0, 3], max_len=4),
            case(
                "lengths on another device",
                demand="the device of lengths",
                lengths=[3, 1],
                max_len=7,
                elsewhere=True,
            ),
            case("one sentence", lengths=[5], max_len=8),
        ),
        gradient=False,
    ),
    Probe(
        "causal_mask",
        lambda size: {"size": size},
        lambda answer, i: {"mask": answer(i["size"])},
        (
            case("four positions", required=True, size=4),
            case("one position", size=1),
            case("nine positions", size=9),
        ),
        gradient=False,
    ),
    Probe(
        "SelfAttention",
        _self_attention_inputs,
        _call_self_attention,
        (
            case("without a mask", required=True, B=2, T=3, D=4, d_k=5, d_v=6),
            case("padding", B=3, T=5, D=6, d_k=4, d_v=2, mask="padding"),
            case("causal mask", B=2, T=4, D=3, d_k=6, d_v=5, mask="causal"),
            case("a second call, without a mask", B=2, T=6, D=5, d_k=3, d_v=4, earlier="padding"),
            case(EMPTY_ROW, demand=EMPTY_ROW, B=2, T=5, D=4, d_k=3, d_v=6, mask="empty"),
            case("float64", demand="float64", B=1, T=3, D=5, d_k=4, d_v=2, dtype="float64"),
            case(
                "what is trained",
                demand="nothing else that is trained",
                B=2,
                T=3,
                D=6,
                d_k=5,
                d_v=4,
                trained=True,
            ),
            case("one word", B=2, T=1, D=5, d_k=3, d_v=4),
            case(
                "a second call with another mask",
                B=2,
                T=5,
                D=4,
                d_k=6,
                d_v=3,
                mask="random",
                earlier="causal",
            ),
        ),
        forbidden=SHORTCUTS,
        stand_ins={"scaled_dot_product_attention": STAND_IN},
    ),
    Probe(
        "repaired_attention",
        _attention_inputs,
        lambda answer, i: weights_first(answer(i["q"], i["k"], i["v"])),
        (
            case("one sentence", required=True, B=1, T=3, S=4, Dk=5, Dv=2),
            case("a batch", required=True, B=3, T=5, S=6, Dk=4, Dv=2),
            case("as many queries as keys", B=2, T=4, Dk=3, Dv=5),
            case("large scores", B=2, T=4, S=5, Dk=3, Dv=6, scale=12.0),
            case(
                "with a heads axis",
                demand="any number of axes in front",
                B=2,
                H=3,
                T=4,
                S=5,
                Dk=6,
                Dv=7,
            ),
            case("float64", demand="float64", B=2, T=5, S=3, Dk=6, Dv=4, dtype="float64"),
        ),
        kind=ExerciseKind.REPAIR,
        forbidden=SHORTCUTS,
    ),
    Probe(
        "test_attention",
        lambda version_name, again=False: {"version": version(version_name, again)},
        try_test,
        (
            case("a right version", True, 0.0, version_name="right"),
            case("another right version", True, 0.0, version_name="right, one query at a time"),
            case("no scaling", version_name="no scaling"),
            case("values taken from the keys", version_name="values from keys"),
            case("mask applied after softmax", version_name="mask after softmax"),
            case("mask inverted", version_name="inverted mask"),
        ),
        kind=ExerciseKind.TEST_THE_TEST,
        gradient=False,
        served="version",
    ),
)

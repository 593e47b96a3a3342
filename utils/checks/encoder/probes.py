"""How the answers of lesson 05 are questioned."""

from typing import Any

import torch
from torch import Tensor, nn

from utils import blocks
from utils.checks.attention.probes import broadcast_mask
from utils.checks.calling import AnswerError, call_with, require_linear, require_module
from utils.checks.chance import settled
from utils.checks.encoder.probes_use import USE
from utils.checks.encoder.requirements import (
    LAYER_PARTS,
    dropout_of,
    require_dropout,
    require_final_norm,
    require_gain_and_bias,
    require_layers,
    require_padding_idx,
    require_parts,
)
from utils.checks.encoder.weights import Through, layer_weights, only_weights
from utils.checks.exercise import Inputs, Probe, case
from utils.checks.inputs import Draw
from utils.checks.multi_head_attention.probes import WHOLE
from utils.checks.observation import describe
from utils.checks.predicting import asked
from utils.specimens import broken_layer

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
EARLIER = {
    "MultiHeadAttention": blocks.MultiHeadAttention,
    "PositionalEncoding": blocks.PositionalEncoding,
    "TokenEmbedding": blocks.TokenEmbedding,
}
_Layer = blocks.EncoderLayer  # taken now: an answer must do without it
PARTS = {"LayerNorm": blocks.LayerNorm, "FeedForward": blocks.FeedForward}


def _norm_inputs(
    eps: float | None = None, offset: float = 0.0, constant: bool = False, **params: Any
) -> Inputs:
    draw, width = Draw(offset=offset, **params), params["D"]
    shape = [params[size] for size in ("B", "H", "T") if size in params]
    x = draw.normal(*shape, 1).expand(*shape, width) if constant else draw.normal(*shape, width)
    return {
        "x": x + offset,
        "weight": 1 + draw.normal(width, scale=0.4),
        "bias": draw.normal(width, scale=1.0),
        "eps": eps,
    }


def _call_norm(answer: Any, i: Inputs) -> dict[str, object]:
    width, eps = i["x"].shape[-1], i["eps"]
    made = answer(width) if eps is None else answer(width, eps)
    module = require_module(made, "LayerNorm").to(i["x"].dtype)
    require_gain_and_bias(module)
    output = call_with(module, {"weight": i["weight"], "bias": i["bias"]}, i["x"])
    own = {name: value.detach().clone() for name, value in module.named_parameters()}
    return {"output": output, "weight at first": own["weight"], "bias at first": own["bias"]}


def _feed_inputs(dropout: float = 0.0, train: bool = False, **params: Any) -> Inputs:
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
    module = require_module(answer(width, inner, i["dropout"]), "FeedForward")
    module.to(i["x"].dtype).train(i["train"])
    require_linear(module, "linear_1", width, inner, bias=True)
    require_linear(module, "linear_2", inner, width, bias=True)
    weights = only_weights(i)
    return {"output": settled(lambda: call_with(module, weights, i["x"]), i["dropout"])}


def _layer_inputs(
    *,
    mask: str = "none",
    dropout: float = 0.0,
    train: bool = False,
    norm_first: bool = False,
    **params: Any,
) -> Inputs:
    draw = Draw(mask=mask, norm_first=norm_first, **params)
    size, length = params["B"], params["T"]
    return {
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
    made = answer(width, i["n_heads"], inner, i["dropout"], i["norm_first"])
    layer = require_module(made, "EncoderLayer").to(i["x"].dtype).train(i["train"])
    require_parts(layer, *LAYER_PARTS)
    weights = only_weights(i)
    output = settled(lambda: call_with(layer, weights, i["x"], i["mask"]), i["dropout"])
    return {"output": output, **(_rates(layer, i["dropout"]) if i["dropout"] else {})}


def _rates(layer: Any, given: float) -> dict[str, object]:
    """The share that each part drops out; where a part does not tell, what it should be."""
    parts = {"self_attention": layer.self_attention, "feed_forward": layer.feed_forward}
    rates = {name: dropout_of(part) for name, part in parts.items()}
    return {
        f"dropout of self.{name}": given if rate is None else rate for name, rate in rates.items()
    }


class _TheirLayer(nn.Module):
    """The parts that a repaired layer is made of; called as it is, it has the fault still.

    It is no EncoderLayer, whose forward would be the repair.
    """

    def __init__(self, *sizes: Any) -> None:
        super().__init__()
        for name, part in _Layer(*sizes).named_children():
            self.add_module(name, part)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D), wrongly."""
        return broken_layer(self, x, mask)


def _call_repaired_layer(answer: Any, i: Inputs) -> dict[str, object]:
    width, inner = i["feed_forward.linear_2.weight"].shape
    layer = _TheirLayer(width, i["n_heads"], inner, 0.0).to(i["x"].dtype).eval()
    weights = only_weights(i)
    return {"output": Through(layer).call(weights, lambda own: answer(own, i["x"], i["mask"]))}


def _encoder_inputs(
    *,
    mask: str = "none",
    pad: str = "none",
    padding_idx: int = 0,
    norm_first: bool = False,
    dropout: float = 0.0,
    train: bool = False,
    too_long: bool = False,
    **params: Any,
) -> Inputs:
    draw = Draw(mask=mask, pad=pad, padding_idx=padding_idx, norm_first=norm_first, **params)
    size, length, width = params["B"], params["T"], params["D"]
    table = draw.normal(params["V"], width, scale=0.4)
    table[padding_idx] = 0.0
    norm = layer_weights(draw, width, 1)
    final = {f"final_norm.{name}": norm[f"norm_1.{name}"] for name in ("weight", "bias")}
    stack = [layer_weights(draw, width, params["F"], f"layers.{n}.") for n in range(params["L"])]
    return {
        "ids": _ids(draw, pad, params["V"], padding_idx, size, length),
        "mask": broadcast_mask(draw, mask, None, size, length, length),
        "sizes": (params["V"], width, params["H"], params["L"], params["F"], length + 1),
        "options": (dropout, norm_first, padding_idx),
        "train": train,
        "too_long": too_long,
        "embedding.weight": table,
        **{name: tensor for weights in stack for name, tensor in weights.items()},
        **(final if norm_first else {}),
    }


def _ids(draw: Draw, pad: str, vocab_size: int, padding_idx: int, *shape: int) -> Tensor:
    ids = draw.integers(vocab_size - 1, *shape)
    ids += ids >= padding_idx  # every id but the padding's
    if pad == "some":
        real = draw.mask("padding", *shape)
        assert real is not None
        ids[~real] = padding_idx
    if pad == "a whole sentence":
        ids[-1] = padding_idx
    return ids


def _call_encoder(answer: Any, i: Inputs) -> dict[str, object]:
    encoder = require_module(answer(*i["sizes"], *i["options"]), "TransformerEncoder")
    encoder.to(i["embedding.weight"].dtype).train(i["train"])
    require_parts(encoder, "embedding", "positions")
    require_layers(encoder, i["sizes"][3])
    require_final_norm(encoder, norm_first=i["options"][1])
    require_padding_idx(encoder, i["options"][2])
    if i["train"]:
        require_dropout(encoder, i["options"][0])
    weights, ids = only_weights(i), i["ids"]
    whole = Through(encoder)
    embedded = whole.call(weights, lambda own: own.embed(ids))
    results = {"embed": embedded}
    lengths = (ids != i["options"][2]).sum(1)
    if i["mask"] is None and (lengths == ids.shape[1]).all():
        results["encode"] = whole.call(weights, lambda own: own.encode(embedded))
    given = (ids,) if i["mask"] is None else (ids, i["mask"])
    results["output"] = _real_rows(call_with(encoder, weights, *given), ids, i)
    if 0 < lengths[-1] < ids.shape[1]:
        results["alone"] = call_with(encoder, weights, ids[-1:, : int(lengths[-1])])
    return results | ({"past max_len": _past_the_end(encoder, i)} if i["too_long"] else {})


def _real_rows(output: Any, ids: Tensor, i: Inputs) -> Any:
    """Leave out what stands at padding, for right answers differ there."""
    padding = ids == i["options"][2]
    padding &= ~padding.all(1, keepdim=True)  # an empty sentence must not become NaN
    if not isinstance(output, Tensor) or output.shape[:2] != ids.shape:
        return output
    return output.masked_fill(padding.unsqueeze(-1), 0.0)


def _past_the_end(encoder: Any, i: Inputs) -> str:
    try:
        encoder.embed(torch.ones(1, i["sizes"][-1] + 1, dtype=torch.long))
    except ValueError:
        return "ValueError"
    return "no error"


def _call_stack(answer: Any, i: Inputs) -> dict[str, object]:
    stack = answer(lambda: torch.nn.Linear(i["D"], i["D"] + 1), i["L"])
    if not isinstance(stack, torch.nn.ModuleList):
        kind = "nothing" if stack is None else "return"
        raise AnswerError(kind, f"It should return an nn.ModuleList, not {describe(stack)}.")
    return {
        "layers": len(stack),
        "separate layers": len({id(layer) for layer in stack}),
        "parameters": sum(p.numel() for p in stack.parameters()),
    }


PROBES = (
    Probe(
        "LayerNorm",
        _norm_inputs,
        _call_norm,
        (
            case("one batch", required=True, B=2, T=3, D=4),
            case("one vector", D=5),
            case("four axes", B=2, H=3, T=4, D=6),
            case("equal entries", B=2, T=4, D=3, constant=True),
            case("small numbers, where epsilon counts", B=3, T=2, D=5, scale=0.003),
            case("another epsilon", B=2, T=4, D=5, eps=0.1),
            case("far from zero", B=2, T=3, D=6, offset=100.0),
            case("float64", B=2, T=3, D=5, dtype="float64"),
        ),
        forbidden=(*NORMALISERS, "utils.blocks.LayerNorm"),
    ),
    Probe(
        "FeedForward",
        _feed_inputs,
        _call_feed,
        (
            case("one batch", required=True, B=2, T=3, D=4, F=6),
            case("one vector", D=3, F=5),
            case("dropout in eval mode", B=2, T=4, D=3, F=5, dropout=1.0),
            case(
                "dropout of everything in train mode", B=2, T=3, D=4, F=5, dropout=1.0, train=True
            ),
            case("float64", B=3, T=2, D=4, F=7, dtype="float64"),
        ),
        forbidden=("utils.blocks.FeedForward",),
    ),
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
            case("a row with nothing allowed", B=2, T=5, D=8, H=4, F=3, mask="empty"),
            case("dropout in eval mode", B=2, T=3, D=6, H=1, F=5, dropout=1.0),
            case("dropout of everything", B=2, T=3, D=8, H=4, F=5, dropout=1.0, train=True),
            case(
                "dropout of everything, pre-norm",
                B=2,
                T=5,
                D=6,
                H=3,
                F=7,
                dropout=1.0,
                train=True,
                norm_first=True,
            ),
            case("float64", B=1, T=4, D=6, H=3, F=5, mask="random", dtype="float64"),
        ),
        forbidden=(*WHOLE, "utils.blocks.EncoderLayer"),
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
        ),
        kind="repair",
        forbidden=(*WHOLE, "utils.blocks.EncoderLayer"),
    ),
    Probe(
        "TransformerEncoder",
        _encoder_inputs,
        _call_encoder,
        (
            case("one sentence", required=True, V=11, B=1, T=3, D=8, H=4, L=2, F=5),
            case("padding", V=11, B=3, T=5, D=8, H=4, L=2, F=7, pad="some"),
            case("pre-norm", V=11, B=2, T=4, D=6, H=1, L=3, F=5, norm_first=True),
            case("a causal mask", V=7, B=2, T=5, D=8, H=4, L=3, F=6, mask="causal"),
            case("a mask of your own", V=7, B=3, T=5, D=8, H=4, L=2, F=6, mask="padding"),
            case(
                "a mask of your own, and padding",
                V=11,
                B=3,
                T=5,
                D=8,
                H=4,
                L=2,
                F=7,
                mask="random",
                pad="some",
            ),
            case(
                "another padding id", V=9, B=3, T=5, D=8, H=4, L=2, F=6, pad="some", padding_idx=1
            ),
            case(
                "a sentence of padding", V=9, B=2, T=5, D=6, H=1, L=3, F=7, pad="a whole sentence"
            ),
            case("dropout", V=9, B=2, T=5, D=6, H=1, L=3, F=7, dropout=1.0, train=True),
            case("a sentence past max_len", V=9, B=1, T=5, D=6, H=3, L=2, F=7, too_long=True),
            case("float64", V=11, B=2, T=3, D=8, H=4, L=1, F=5, dtype="float64"),
        ),
        forbidden=(*WHOLE, "utils.blocks.TransformerEncoder"),
        stand_ins={**EARLIER, **PARTS, "EncoderLayer": blocks.EncoderLayer},
    ),
    asked("predict_feed_forward_share"),
    Probe(
        "repaired_stack",
        lambda **params: dict(params),
        _call_stack,
        (
            case("three layers", required=True, L=3, D=4),
            case("one layer", L=1, D=3),
        ),
        kind="repair",
        gradient=False,
    ),
    *USE,
)

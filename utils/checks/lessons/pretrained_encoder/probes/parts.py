"""Probes of an encoder that becomes a BERT, and gets a BERT's weights."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import name_of_error
from utils.checks.authoring.swapping import use_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.stand_ins import PARTS
from utils.checks.lessons.encoder.probes.weights import layer_weights, only_weights
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.multi_head_attention.probes.heads import WHOLE
from utils.checks.observe.substitution import borrowed
from utils.checks.observe.torch_state import seeded

ENCODER = "utils.reference.encoder.stack.TransformerEncoder"
AS_BERT = "utils.reference.encoder.bert.as_bert"
POSITIONS = "utils.reference.positions.learned.LearnedPositionalEncoding"
COPIES = 200  # of a batch, in which the share of dropped entries is counted
# In the file, after encoder.layer.N: names of what layer_weights draws.
_THEIRS = {
    "self_attention.w_q": "attention.self.query",
    "self_attention.w_k": "attention.self.key",
    "self_attention.w_v": "attention.self.value",
    "self_attention.w_o": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "feed_forward.linear_1": "intermediate.dense",
    "feed_forward.linear_2": "output.dense",
    "norm_2": "output.LayerNorm",
}


def _encoder(i: Inputs, padding_idx: int = 0) -> Any:
    padding = {"padding_idx": padding_idx}
    with seeded(0):
        vocab, width, heads, layers, inner = i["sizes"]
        encoder: Any = borrowed(ENCODER)(vocab, width, heads, layers, inner, 50, 0.1, **padding)
    return encoder.eval()


def _bert_inputs(
    pad: bool = False, train: bool = False, past: bool = False, scale: float = 1.0, **params: Any
) -> Inputs:
    """Draw ids and all weights; `scale` is that of words and positions, beside which eps counts."""
    draw, width = Draw(pad=pad, factor=scale, **params), params["D"]
    ids = draw.integers(params["V"], params["B"], params["T"], low=1)
    if pad:
        ids[1:, -2:] = 0
    norm = layer_weights(draw, width, 1)
    weights = {
        "embedding.weight": draw.normal(params["V"], width, scale=scale),
        "positions.0.weight": draw.normal(params["P"], width, scale=scale),
        "positions.1.weight": norm["norm_1.weight"],
        "positions.1.bias": norm["norm_1.bias"] * scale,
    }
    for n in range(params["L"]):
        weights |= layer_weights(draw, width, params["F"], f"layers.{n}.")
    if scale < 1:  # what is before a norm stays small, so that eps counts in every norm
        weights = {k: w if "norm" in k or "." not in k else w * scale for k, w in weights.items()}
        weights["positions.1.weight"] = weights["positions.1.weight"] * scale
        weights |= {k: w * scale for k, w in weights.items() if "norm_1" in k}
    sizes = tuple(params[letter] for letter in "VDHLF")
    return {"ids": ids, "sizes": sizes, "P": params["P"], "train": train, "past": past, **weights}


def _call_as_bert(answer: Any, i: Inputs) -> dict[str, object]:
    encoder = _encoder(i)
    parts = {
        "layers": list(encoder.layers),
        "attention": [a.self_attention for a in encoder.layers],
    }
    answer(encoder, i["P"])
    encoder.eval()
    weights, ids = only_weights(i), i["ids"]
    real = (ids != 0).unsqueeze(-1)
    embedded = use_with(encoder, weights, lambda own: own.embed(ids))
    output = use_with(encoder, weights, lambda own: own(ids))
    now = {"layers": list(encoder.layers), "attention": [a.self_attention for a in encoder.layers]}
    results: dict[str, object] = {
        "embed": embedded,
        "output": output.masked_fill(~real, 0.0) if isinstance(output, Tensor) else output,
        "layers and attention are the objects that they were": _same_objects(parts, now),
    }
    if i["train"]:
        results["share that embed drops, to a tenth"] = _dropped(encoder, ids)
        results["the feed-forward drops entries"] = _drops(encoder.layers[0].feed_forward, i)
        other = _encoder(i, padding_idx=3)
        answer(other, i["P"])
        results["padding_idx of the embedding"] = getattr(other.embedding, "padding_idx", None)
    if i["past"]:
        ids = torch.ones(1, i["P"] + 1, dtype=torch.long)
        results["a sentence past max_len"] = name_of_error(lambda: encoder.embed(ids))
    return results


def _same_objects(before: dict[str, list[nn.Module]], now: dict[str, list[nn.Module]]) -> bool:
    return {k: [*map(id, v)] for k, v in before.items()} == {
        k: [*map(id, v)] for k, v in now.items()
    }


def _dropped(encoder: Any, ids: Tensor) -> float:
    """Return the share of entries that embed sets to zero in train mode, to a tenth."""
    with seeded(0), torch.no_grad():
        embedded = encoder.train().embed(ids.repeat(COPIES, 1))
    encoder.eval()
    share: float = round((embedded == 0).double().mean().item(), 1)
    return share


def _drops(feed_forward: nn.Module, i: Inputs) -> bool:
    """Return whether two calls in train mode differ."""
    x = torch.ones(COPIES, i["sizes"][1])
    with seeded(0), torch.no_grad():
        feed_forward.train()
        return not torch.equal(feed_forward(x), feed_forward(x))


def _load_inputs(
    same: bool = False, apart: bool = False, lacks: bool = False, **params: Any
) -> Inputs:
    """Draw a BERT's tensors under the names of its file, more than are needed."""
    draw, width = Draw(**params), params["D"]
    tables = {"word": params["V"], "position": params["P"], "token_type": 2}
    tensors = {
        f"embeddings.{name}_embeddings.weight": draw.normal(rows, width)
        for name, rows in tables.items()
    }
    tensors["embeddings.position_ids"] = torch.arange(params["P"]).unsqueeze(0)
    for kind in ("weight", "bias"):
        tensors[f"embeddings.LayerNorm.{kind}"] = draw.normal(width)
        tensors[f"pooler.dense.{kind}"] = draw.normal(width)
    for n in range(params["L"]):
        for name, tensor in layer_weights(draw, width, params["F"]).items():
            part, _, kind = name.rpartition(".")
            tensors[f"encoder.layer.{n}.{_THEIRS[part]}.{kind}"] = tensor
    if lacks:
        del tensors[f"encoder.layer.{params['L'] - 1}.output.LayerNorm.bias"]
    sizes = tuple(params[letter] for letter in "VDHLF")
    asked = {"same": same, "apart": apart, "lacks": lacks}
    return {"sizes": sizes, "P": params["P"], "tensors": tensors, **asked}


def _call_load(answer: Any, i: Inputs) -> dict[str, object]:
    encoder = _encoder(i)
    with seeded(0):
        borrowed(AS_BERT)(encoder, i["P"])
    tensors, mine = i["tensors"], list(encoder.parameters())
    if i["lacks"]:
        return _load_too_little(answer, encoder, tensors)
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    answer(encoder, tensors)
    results: dict[str, object] = {
        "numbers": {name: p.detach().clone() for name, p in encoder.named_parameters()}
    }
    if i["same"]:
        still = [*map(id, mine)] == [*map(id, encoder.parameters())]
        trained = all(p.requires_grad and p.is_leaf for p in encoder.parameters())
        results["the parameters are the same objects"] = still
        results["the parameters can still be trained"] = trained
    if i["apart"]:
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.zero_()
        kept = all(torch.equal(before[name], tensor) for name, tensor in tensors.items())
        results["training leaves the tensors alone"] = kept
    return results


def _load_too_little(answer: Any, encoder: Any, tensors: dict[str, Tensor]) -> dict[str, object]:
    before = [parameter.detach().clone() for parameter in encoder.parameters()]
    said = name_of_error(lambda: answer(encoder, tensors))
    after = zip(before, encoder.parameters(), strict=True)
    whole = all(torch.equal(old, new) for old, new in after)
    return {"with a tensor missing": said, "the weights are as they were": whole}


PROBES = by_exercise(
    Probe(
        "as_bert",
        _bert_inputs,
        _call_as_bert,
        (
            case("one layer", required=True, V=11, B=2, T=3, D=8, H=4, L=1, F=5, P=7),
            case("two layers", V=9, B=3, T=4, D=6, H=1, L=2, F=7, P=8),
            case("padding", V=12, B=3, T=5, D=8, H=4, L=2, F=6, P=7, pad=True),
            case("small numbers", V=9, B=3, T=5, D=8, H=4, L=2, F=6, P=7, scale=0.001),
            case("dropout", V=9, B=2, T=4, D=6, H=3, L=1, F=5, P=7, train=True),
            case(
                "longer than max_len",
                demand="ValueError past max_len",
                V=8,
                B=2,
                T=4,
                D=6,
                H=3,
                L=1,
                F=5,
                P=7,
                past=True,
            ),
        ),
        forbidden=(*WHOLE, AS_BERT),
        stand_ins={**PARTS, "LearnedPositionalEncoding": POSITIONS},
    ),
    Probe(
        "load_bert",
        _load_inputs,
        _call_load,
        (
            case("one layer", required=True, V=11, D=6, H=3, L=1, F=5, P=7),
            case("three layers", V=9, D=8, H=4, L=3, F=5, P=7),
            case("eleven layers", V=13, D=4, H=2, L=11, F=3, P=5),
            case("one head", V=9, D=4, H=1, L=2, F=6, P=8),
            case(
                "an optimiser made before",
                demand="parameters written, not replaced",
                V=9,
                D=6,
                H=3,
                L=1,
                F=4,
                P=7,
                same=True,
            ),
            case(
                "trained afterwards",
                demand="tensors left alone",
                V=8,
                D=6,
                H=3,
                L=1,
                F=4,
                P=7,
                apart=True,
            ),
            case(
                "a tensor missing",
                demand="KeyError before anything is copied",
                V=9,
                D=6,
                H=3,
                L=2,
                F=5,
                P=7,
                lacks=True,
            ),
        ),
        gradient=False,
        stand_ins={"as_bert": AS_BERT},
    ),
)

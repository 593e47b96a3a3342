"""Probe of the whole encoder."""

from typing import Any

import torch
from torch import Tensor

from utils.checks.authoring.calling import require_module
from utils.checks.authoring.defaults import require_defaults
from utils.checks.authoring.swapping import call_with, use_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.attention.probes.attention import broadcast_mask
from utils.checks.lessons.encoder.probes.requirements import (
    DEFAULT_DROPOUT,
    require_dropout,
    require_final_norm,
    require_layers,
    require_padding_idx,
    require_parts,
)
from utils.checks.lessons.encoder.probes.stand_ins import EARLIER, LAYER, PARTS
from utils.checks.lessons.encoder.probes.weights import (
    by_own_names,
    layer_weights,
    only_weights,
)
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.multi_head_attention.probes.heads import WHOLE

DEFAULT_SIZES = {"d_model": 512, "n_heads": 8, "n_layers": 6, "d_ff": 2048, "max_len": 5000}


def _encoder_inputs(
    *,
    mask: str = "none",
    pad: str = "none",
    padding_idx: int = 0,
    norm_first: bool = False,
    dropout: float = 0.0,
    train: bool = False,
    too_long: bool = False,
    again: bool = False,
    defaults: bool = False,
    half: bool = False,
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
        "again": again,
        "defaults": defaults,
        "half": half,
        "embedding.weight": table,
        **{name: tensor for weights in stack for name, tensor in weights.items()},
        **(final if norm_first else {}),
    }


def _ids(draw: Draw, pad: str, vocab_size: int, padding_idx: int, *shape: int) -> Tensor:
    ids = draw.integers(vocab_size - 1, *shape)
    ids += ids >= padding_idx  # any id but the padding id
    if pad in ("some", "anywhere"):
        real = draw.mask("padding" if pad == "some" else "random", *shape)
        assert real is not None
        ids[~real] = padding_idx
    if pad == "a whole sentence":
        ids[-1] = padding_idx
    return ids


def _call_encoder(answer: Any, i: Inputs) -> dict[str, object]:
    given = i["sizes"][:-1] if i["defaults"] else (*i["sizes"], *i["options"])
    encoder = require_module(answer(*given), "TransformerEncoder")
    if i["defaults"]:
        encoder.eval()
        require_dropout(encoder, DEFAULT_DROPOUT)
        require_defaults(answer, **DEFAULT_SIZES)
    encoder.to(i["embedding.weight"].dtype).train(i["train"])
    require_parts(encoder, "embedding", "positions")
    require_layers(encoder, i["sizes"][3])
    require_final_norm(encoder, norm_first=i["options"][1])
    require_padding_idx(encoder, i["options"][2])
    if i["train"]:
        require_dropout(encoder, i["options"][0])
    weights, ids = by_own_names(encoder, only_weights(i)), i["ids"]
    real = ids != i["options"][2]
    if i["again"]:
        for earlier in ((ids[:1, 1:],), (ids.roll(1, 0),), (ids, real.roll(1, 0).unsqueeze(1))):
            call_with(encoder, weights, *earlier)
    embedded = use_with(encoder, weights, lambda own: own.embed(ids))
    if i["half"]:
        return {"what embed drops out": _dropped_share(encoder, i)}
    results = {"embed": embedded}
    if i["mask"] is None and real.all():
        results["encode"] = use_with(encoder, weights, lambda own: own.encode(_copy(embedded)))
    if i["again"]:  # of the first sentence, which is full
        results["encode"] = use_with(encoder, weights, lambda own: own.encode(_copy(embedded[:1])))
    given = (ids,) if i["mask"] is None else (ids, i["mask"])
    results["output"] = _real_rows(call_with(encoder, weights, *given), ids, i)
    length = int(real[-1].sum())
    if 0 < length < ids.shape[1] and real[-1, :length].all():
        results["alone"] = call_with(encoder, weights, ids[-1:, :length])
    return results | ({"past max_len": _past_the_end(encoder, i)} if i["too_long"] else {})


def _copy(embedded: Any) -> Any:
    """Return what encode may write into: what embed gave is looked at later."""
    return embedded.clone() if isinstance(embedded, Tensor) else embedded


def _real_rows(output: Any, ids: Tensor, i: Inputs) -> Any:
    """Set the output at padding to zero, because right answers differ there."""
    padding = ids == i["options"][2]
    if not isinstance(output, Tensor) or output.shape[:2] != ids.shape:
        return output
    stays = padding.all(1, keepdim=True).unsqueeze(-1) & output.isnan()  # in an empty sentence
    return output.masked_fill(padding.unsqueeze(-1) & ~stays, 0.0)


def _dropped_share(encoder: Any, i: Inputs) -> str:
    """Return whether embed drops out what it is asked to: a share of 0.5, give or take 0.1."""
    ids = i["ids"].expand(400, -1)
    embedded = encoder.embed(ids)
    share = (embedded == 0).float().mean().item()
    if abs(share - 0.5) < 0.1:
        whole = 2 * encoder.eval().embed(ids)
        others = torch.where(embedded == 0, whole, embedded)
        return "as asked" if torch.allclose(others, whole) else "as much, but not the sum alone"
    return "more than asked" if share > 0.5 else "less than asked"


def _past_the_end(encoder: Any, i: Inputs) -> str:
    length = i["sizes"][-1] + 1
    try:
        embedded = encoder.embed(torch.ones(1, length, dtype=torch.long))
    except ValueError:
        return "ValueError"
    is_cut = isinstance(embedded, Tensor) and length not in embedded.shape
    return "no error: the sentence is cut" if is_cut else "no error"


PROBES = by_exercise(
    Probe(
        "TransformerEncoder",
        _encoder_inputs,
        _call_encoder,
        (
            case("one sentence", required=True, V=11, B=1, T=3, D=8, H=4, L=2, F=5),
            case("padding", V=11, B=3, T=5, D=8, H=4, L=2, F=7, pad="some"),
            case("pre-norm", V=11, B=3, T=4, D=6, H=1, L=2, F=5, norm_first=True),
            case("a causal mask", V=7, B=2, T=5, D=8, H=4, L=3, F=6, mask="causal"),
            case(
                "a mask of your own",
                results_only=True,
                V=7,
                B=3,
                T=5,
                D=8,
                H=4,
                L=1,
                F=6,
                mask="padding",
            ),
            case(
                "a mask of your own, and padding",
                demand="a given mask used as it is",
                results_only=True,
                V=11,
                B=3,
                T=5,
                D=8,
                H=4,
                L=1,
                F=7,
                mask="random",
                pad="some",
            ),
            case(
                "another padding id", V=9, B=3, T=5, D=8, H=4, L=1, F=6, pad="some", padding_idx=7
            ),
            case(
                "padding before words",
                demand="padding anywhere in a sentence",
                results_only=True,
                V=9,
                B=3,
                T=6,
                D=8,
                H=4,
                L=1,
                F=5,
                pad="anywhere",
            ),
            case(
                "a sentence of padding",
                demand="a sentence of padding alone",
                V=9,
                B=3,
                T=5,
                D=6,
                H=1,
                L=1,
                F=7,
                pad="a whole sentence",
            ),
            case(
                "dropout",
                results_only=True,
                V=9,
                B=3,
                T=5,
                D=6,
                H=1,
                L=2,
                F=7,
                dropout=1.0,
                train=True,
            ),
            case(
                "half of all dropped out",
                demand="dropout once in embed",
                results_only=True,
                V=7,
                B=1,
                T=5,
                D=8,
                H=2,
                L=1,
                F=6,
                dropout=0.5,
                train=True,
                half=True,
            ),
            case(
                "made with its defaults",
                demand="the defaults of the stub",
                results_only=True,
                V=7,
                B=2,
                T=3,
                D=8,
                H=4,
                L=1,
                F=5,
                defaults=True,
            ),
            case(
                "after calls with other sentences",
                demand="calls that do not depend on earlier ones",
                V=11,
                B=3,
                T=5,
                D=8,
                H=4,
                L=1,
                F=6,
                pad="some",
                again=True,
            ),
            case(
                "a sentence past max_len",
                demand="ValueError past max_len",
                results_only=True,
                V=11,
                B=1,
                T=5,
                D=12,
                H=3,
                L=1,
                F=7,
                too_long=True,
            ),
            case("float64", demand="float64", V=11, B=2, T=3, D=8, H=4, L=1, F=5, dtype="float64"),
            case("one token", V=9, B=2, T=1, D=6, H=3, L=1, F=5),
        ),
        forbidden=(*WHOLE, "utils.reference.modules.TransformerEncoder"),
        stand_ins={**EARLIER, **PARTS, "EncoderLayer": LAYER},
    ),
)

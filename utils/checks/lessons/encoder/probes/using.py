"""Probes of what is done with an encoder: counting, loading, measuring influence."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import mode_of
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.weights import layer_weights, torch_names
from utils.checks.lessons.inputs import Draw
from utils.checks.observe.substitution import borrowed

ENCODER = "utils.reference.encoder.stack.TransformerEncoder"
ROUNDING = 1e-6  # far below any influence: what is left of none where two ways are compared
# Bound at import: other exercises make them absent.
_TorchEncoder, _TorchLayer = nn.TransformerEncoder, nn.TransformerEncoderLayer


def _count(answer: Any, i: Inputs) -> dict[str, object]:
    encoder = borrowed(ENCODER)(
        i["V"], i["D"], i["H"], i["L"], i["F"], 10, norm_first=i["norm_first"]
    )
    if i["learned"]:
        encoder.positions = nn.Embedding(10, i["D"])
    if i["shared"]:
        encoder.layers = nn.ModuleList([encoder.layers[0]] * i["L"])
    encoder.embedding.requires_grad_(not i["frozen"])
    return {"counts": answer(encoder)}


def _load_inputs(
    *,
    mask: str = "none",
    norm_first: bool = False,
    train: bool = False,
    deeper: int = 0,
    same: bool = False,
    fresh: bool = False,
    **params: Any,
) -> Inputs:
    """Draw x and the weights of torch's encoder, or if `fresh`, those that it is made with.

    Its biases are zero then and its gains one.
    """
    draw = Draw(mask=mask, norm_first=norm_first, **params)
    size, length, width = params["B"], params["T"], params["D"]
    weights: dict[str, Tensor] = {}
    for n in range(params["L"]):
        layer = torch_names(layer_weights(draw, width, params["F"]))
        weights |= {f"layers.{n}.{name}": tensor for name, tensor in layer.items()}
    if norm_first:
        norm = layer_weights(draw, width, 1)
        weights |= {f"norm.{name}": norm[f"norm_2.{name}"] for name in ("weight", "bias")}
    if fresh:
        known = {name: float("norm" in name and "weight" in name) for name in weights}
        weights |= {
            name: torch.full_like(weights[name], value)
            for name, value in known.items()
            if "norm" in name or "bias" in name
        }
    sizes = {"n_heads": params["H"], "n_layers": params["L"], "norm_first": norm_first}
    sizes |= {"train": train, "deeper": deeper, "same": same}
    x, padding = draw.normal(size, length, width), draw.mask(mask, size, 1, length)
    return {"x": x, "mask": padding, **sizes, **weights}


def _load(answer: Any, i: Inputs) -> dict[str, object]:
    if i["deeper"]:
        return _load_another_depth(answer, i)
    encoder, torch_encoder = _encoder_for(i), _torch_encoder_for(i, i["n_layers"])
    torch_encoder.load_state_dict({name: tensor for name, tensor in i.items() if "." in name})
    before, mine = encoder.embedding.weight.detach().clone(), list(encoder.parameters())
    torch_encoder.train(i["train"])
    theirs = [parameter.detach().clone() for parameter in torch_encoder.parameters()]
    answer(encoder, torch_encoder)
    untouched = all(map(torch.equal, theirs, torch_encoder.parameters()))
    trained = all(parameter.requires_grad for parameter in torch_encoder.parameters())
    kept = _left_alone(encoder, before) if i["train"] else {}
    if i["train"]:
        kept["train mode of torch's encoder afterwards"] = mode_of(torch_encoder)
    if i["same"]:
        still = list(map(id, mine)) == list(map(id, encoder.parameters()))
        kept["the parameters are the same objects"] = still
    with torch.no_grad():
        output = encoder.encode(i["x"], i["mask"])
        for parameter in torch_encoder.parameters():
            parameter.zero_()
        later = encoder.encode(i["x"], i["mask"])
    said = "output after the torch encoder was changed"
    own = {"torch's encoder has the numbers it had": untouched}
    own["torch's encoder can still be trained"] = trained
    return {"output": output, said: later, **own, **kept}


def _load_another_depth(answer: Any, i: Inputs) -> dict[str, object]:
    """Observe what loading from another depth does: it must raise and change nothing."""
    encoder = _encoder_for(i)
    before = [parameter.detach().clone() for parameter in encoder.parameters()]
    try:
        answer(encoder, _torch_encoder_for(i, i["n_layers"] + i["deeper"]))
        said = "no error"
    except NotImplementedError:
        raise
    except Exception as error:
        said = type(error).__name__
    after = zip(before, encoder.parameters(), strict=True)
    whole = all(torch.equal(old, new) for old, new in after)
    return {"with another number of layers": said, "the weights are as they were": whole}


def _left_alone(encoder: Any, table: Tensor) -> dict[str, object]:
    """Observe what loading layers and final_norm must leave alone."""
    trained = all(p.requires_grad and p.is_leaf for p in encoder.parameters())  # an optimiser asks
    return {
        "the embedding is as it was": torch.equal(encoder.embedding.weight, table),
        "the parameters can still be trained": trained,
        "train mode afterwards": mode_of(encoder),
    }


def _encoder_for(i: Inputs) -> Any:
    """Build an encoder with arbitrary weights to load over, the same at every call."""
    inner, width = i["layers.0.linear1.weight"].shape
    encoder = borrowed(ENCODER)(
        5, width, i["n_heads"], i["n_layers"], inner, 20, 0.0, i["norm_first"]
    )
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.copy_(torch.linspace(-0.5, 0.6, parameter.numel()).view_as(parameter))
    return encoder.to(i["x"].dtype).train(i["train"])


def _torch_encoder_for(i: Inputs, n_layers: int) -> nn.TransformerEncoder:
    inner, width = i["layers.0.linear1.weight"].shape
    first = i["norm_first"]
    layer = _TorchLayer(width, i["n_heads"], inner, 0.0, batch_first=True, norm_first=first)
    norm = nn.LayerNorm(width) if first else None
    torch_encoder = _TorchEncoder(layer, n_layers, norm, enable_nested_tensor=False)
    return torch_encoder.to(i["x"].dtype).eval()


def _influence_inputs(
    ids: list[int], at: tuple[int, int], train: bool = False, **params: Any
) -> Inputs:
    draw = Draw(**params)
    width = params["D"]
    weights = {"embedding.weight": draw.normal(max(ids) + 1, width, scale=0.4)}
    for n in range(params["L"]):
        weights |= layer_weights(draw, width, params["F"], f"layers.{n}.")
    question = {"source": at[0], "target": at[1], "train": train}
    sizes = {"n_heads": params["H"], "n_layers": params["L"]}
    return {"ids": torch.tensor(ids), **question, **sizes, **weights}


def _influence(answer: Any, i: Inputs) -> dict[str, object]:
    weights = {name: tensor for name, tensor in i.items() if "." in name}
    inner, width = weights["layers.0.feed_forward.linear_1.weight"].shape
    # Train mode drops everything, so that a forgotten eval() shows alike on every machine.
    vocab_size = len(weights["embedding.weight"])
    encoder = borrowed(ENCODER)(
        vocab_size, width, i["n_heads"], i["n_layers"], inner, 20, dropout=1.0
    )
    encoder.load_state_dict(weights, strict=False)  # not strict: positions are a buffer
    encoder.to(weights["embedding.weight"].dtype).train(i["train"])
    found = answer(encoder, i["ids"], i["source"], i["target"])
    kept = all(torch.equal(tensor, weights[name]) for name, tensor in encoder.named_parameters())
    clean = all(tensor.grad is None for tensor in encoder.parameters())
    if type(found) is float and abs(found) < ROUNDING:
        found = 0.0
    return {
        "influence": found.detach() if isinstance(found, Tensor) else found,
        "train mode afterwards": mode_of(encoder),
        "the encoder's weights are as they were": kept,
        **({"no gradient is left in the encoder": clean} if i["train"] else {}),
    }


_SMALL: dict[str, Any] = {"D": 8, "H": 4, "F": 5, "L": 3}
PROBES = by_exercise(
    Probe(
        "count_parameters",
        lambda shared=False, norm_first=False, learned=False, frozen=False, **params: {
            "shared": shared,
            "frozen": frozen,
            "learned": learned,
            "norm_first": norm_first,
            **params,
        },
        _count,
        (
            case("a small encoder", required=True, V=11, D=8, H=4, L=2, F=5),
            case("pre-norm", V=13, D=6, H=3, L=2, F=7, norm_first=True),
            case(
                "layers that share their weights",
                demand="shared weights counted once",
                V=11,
                D=6,
                H=2,
                L=3,
                F=5,
                shared=True,
            ),
            case(
                "positions that are learned",
                demand="learned positions in the total alone",
                V=9,
                D=8,
                H=2,
                L=1,
                F=6,
                learned=True,
            ),
            case(
                "a frozen embedding",
                demand="frozen parameters counted, too",
                V=7,
                D=6,
                H=3,
                L=2,
                F=5,
                frozen=True,
            ),
        ),
        gradient=False,
    ),
    Probe(
        "load_torch_encoder",
        _load_inputs,
        _load,
        (
            case("post-norm", required=True, B=2, T=3, D=8, H=4, F=5, L=1),
            case("three layers", B=2, T=5, D=8, H=4, F=6, L=3),
            case("pre-norm", B=3, T=4, D=6, H=1, F=5, L=2, norm_first=True),
            case(
                "padding, float64",
                demand="float64",
                B=3,
                T=4,
                D=8,
                H=1,
                F=5,
                L=2,
                mask="padding",
                dtype="float64",
            ),
            case("in train mode", B=2, T=4, D=6, H=3, F=5, L=1, train=True),
            case(
                "an optimiser made before",
                demand="parameters written, not replaced",
                B=2,
                T=3,
                D=8,
                H=4,
                F=6,
                L=1,
                same=True,
            ),
            case(
                "another number of layers",
                demand="ValueError for another depth",
                B=2,
                T=3,
                D=8,
                H=4,
                F=5,
                L=1,
                deeper=1,
            ),
            case(
                "fewer layers",
                demand="ValueError for another depth",
                B=2,
                T=3,
                D=8,
                H=4,
                F=5,
                L=6,
                deeper=-1,
            ),
            case("as torch makes it", B=2, T=3, D=8, H=4, F=5, L=1, norm_first=True, fresh=True),
        ),
        gradient=False,
    ),
    Probe(
        "influence",
        _influence_inputs,
        _influence,
        (
            case("on the next word", True, ids=[3, 1, 4, 2], at=(1, 2), **_SMALL),
            case("on itself", ids=[2, 5, 1], at=(2, 2), **_SMALL),
            case("a word that occurs twice", ids=[2, 5, 5, 1, 3], at=(1, 4), **_SMALL),
            case("in training", ids=[1, 4, 2], at=(0, 2), train=True, **_SMALL),
            case(
                "float64", demand="float64", ids=[1, 4, 2, 6], at=(3, 0), dtype="float64", **_SMALL
            ),
            case("a word alone, one head", ids=[4], at=(0, 0), D=6, H=1, F=5, L=2),
        ),
        gradient=False,
    ),
)

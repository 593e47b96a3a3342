"""The parameters of an encoder, predicted and counted: what is right and commonly wrong."""

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from utils.checks.encoder.probes import PROBES
from utils.checks.exercise import Exercise, Mistake

_PROBES = {probe.exercise: probe for probe in PROBES}


def _share() -> float:
    layer = nn.TransformerEncoderLayer(512, 8, 2048)
    inner = [*layer.linear1.parameters(), *layer.linear2.parameters()]
    return _size(inner) / _size(layer.parameters())


def _size(parameters: Iterable[Tensor]) -> int:
    return sum({id(p): p.numel() for p in parameters}.values())


def count_oracle(encoder: nn.Module) -> dict[str, int]:
    """Sort every parameter, once, by the words in its name."""
    words = {"self_attention": "attention", "norm": "layer_norm", "feed_forward": "feed_forward"}
    counts = dict.fromkeys(["embedding", "attention", "feed_forward", "layer_norm", "total"], 0)
    for name, parameter in encoder.named_parameters():
        kind = next((part for word, part in words.items() if word in name), "embedding")
        counts[kind] += parameter.numel()
        counts["total"] += parameter.numel()
    return counts


Change = Callable[[nn.Module, dict[str, int]], dict[str, int]]


def _miscount(change: Change, *, follows: bool = True) -> Any:
    """A count in which some parts are other than they should be, and the total follows or not."""

    def count(encoder: nn.Module) -> dict[str, int]:
        right = count_oracle(encoder)
        found = right | change(encoder, right)
        parts = sum(n for name, n in found.items() if name != "total")
        return found | ({"total": parts} if follows and found["total"] == right["total"] else {})

    return count


def _of_parts(name: str, says: str, hint: str, change: Change) -> tuple[Mistake, Mistake]:
    """A miscount of parts, by those who add them up and by those who count the total apart."""
    apart = _miscount(change, follows=False)
    return (
        Mistake(name, says, hint, _miscount(change)),
        Mistake(f"{name}_with_the_total_right", f"{says} The total is right.", hint, apart),
    )


def _shared_twice(encoder: Any, _: dict[str, int]) -> dict[str, int]:
    layers = list(encoder.layers)
    once = {
        "attention": sum(p.numel() for x in layers for p in x.self_attention.parameters()),
        "feed_forward": sum(p.numel() for x in layers for p in x.feed_forward.parameters()),
    }
    norms = [x for layer in layers for x in (layer.norm_1, layer.norm_2)] + [encoder.final_norm]
    return once | {"layer_norm": sum(p.numel() for x in norms for p in x.parameters())}


def _without_output(encoder: Any, right: dict[str, int]) -> dict[str, int]:
    outputs = [p for x in encoder.layers for p in x.self_attention.w_o.parameters()]
    return {"attention": right["attention"] - _size(outputs)}


def _weights_alone(encoder: nn.Module, right: dict[str, int]) -> dict[str, int]:
    biases = [(n, p.numel()) for n, p in encoder.named_parameters() if n.endswith("bias")]
    parts = {"attention": "self_attention", "feed_forward": "feed_forward", "layer_norm": "norm"}
    return {part: right[part] - sum(n for name, n in biases if word in name)
            for part, word in parts.items()}  # fmt: skip


def _one_layer(encoder: Any, _: dict[str, int]) -> dict[str, int]:
    layer = encoder.layers[0]
    return {
        "attention": _size(layer.self_attention.parameters()),
        "feed_forward": _size(layer.feed_forward.parameters()),
        "layer_norm": _size([*layer.norm_1.parameters(), *layer.norm_2.parameters()]),
    }


def _buffers_too(encoder: nn.Module, right: dict[str, int]) -> dict[str, int]:
    return {"total": right["total"] + sum(b.numel() for b in encoder.buffers())}


def _final_norm_forgotten(encoder: Any, right: dict[str, int]) -> dict[str, int]:
    return {"layer_norm": right["layer_norm"] - _size(encoder.final_norm.parameters())}


COUNTING = (
    Exercise(
        _PROBES["predict_feed_forward_share"],
        _share,
        (
            Mistake(
                "attentions_share",
                "That is what is left for attention.",
                "Attention has four D by D matrices. How many such squares are in two matrices of "
                "D by 4 D?",
                1 / 3,
            ),
            Mistake(
                "half",
                "About half is right for the whole encoder with its embedding, not for one layer.",
                "Leave the embedding out: one layer has attention, feed-forward and two norms.",
                0.524,
            ),
            Mistake(
                "one_matrix",
                "That counts one of the two feed-forward matrices.",
                "There are two: D to 4 D and 4 D back to D.",
                0.5,
            ),
            Mistake(
                "output_projection_forgotten",
                "That is the share if attention had three matrices.",
                "Queries, keys and values are three; what joins the heads is one more.",
                8 / 11,
            ),
            Mistake(
                "in_percent",
                "That is the share in percent.",
                "Write it as a number between 0 and 1.",
                66.65,
            ),
        ),
        tolerance=0.025,
    ),
    Exercise(
        _PROBES["count_parameters"],
        count_oracle,
        (
            *_of_parts(
                "output_projection_left_out",
                "attention lacks w_o.",
                "Attention has four linear layers: count the whole module.",
                _without_output,
            ),
            *_of_parts(
                "biases_left_out",
                "Only weights are counted, not biases.",
                "module.parameters() gives both.",
                _weights_alone,
            ),
            *_of_parts(
                "one_layer_only",
                "Only the first layer is counted.",
                "The parts add up over all layers.",
                _one_layer,
            ),
            Mistake(
                "embedding_left_out_of_the_total",
                "The total has the layers alone.",
                "The embedding is trained too.",
                _miscount(lambda _, n: {"total": n["total"] - n["embedding"]}),
            ),
            Mistake(
                "buffers_counted",
                "The total has the sinusoids too, which are a buffer and not trained.",
                "parameters() leaves buffers out, state_dict() does not.",
                _miscount(_buffers_too),
            ),
            *_of_parts(
                "final_norm_left_out",
                "With norm_first there is one more norm, after the last layer.",
                "Compare the sum of your parts with the total.",
                _final_norm_forgotten,
            ),
            *_of_parts(
                "shared_weights_counted_again",
                "Weights that several layers share are counted once for each of them.",
                "A module's parameters() gives each tensor once; a loop over layers does not. "
                "Put the parts into one nn.ModuleList and ask that.",
                _shared_twice,
            ),
        ),
    ),
)

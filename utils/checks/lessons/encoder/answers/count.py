"""The parameters of an encoder, predicted and counted: right answers and common mistakes."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES


def _share() -> float:
    layer = nn.TransformerEncoderLayer(512, 8, 2048)
    inner = [*layer.linear1.parameters(), *layer.linear2.parameters()]
    return _size(inner) / _size(layer.parameters())


def _size(parameters: Iterable[Tensor]) -> int:
    return sum({id(p): p.numel() for p in parameters}.values())


_WORDS = {"self_attention": "attention", "norm": "layer_norm", "feed_forward": "feed_forward"}
_PARTS = ("embedding", "attention", "feed_forward", "layer_norm")


def count_oracle(encoder: nn.Module) -> dict[str, int]:
    """Count every parameter once, sorted by the words in its name; positions are in no part."""
    counts = dict.fromkeys([*_PARTS, "total"], 0)
    for name, parameter in encoder.named_parameters():
        counts["total"] += parameter.numel()
        if not name.startswith("positions"):
            counts[_part_of(name)] += parameter.numel()
    return counts


def _part_of(name: str) -> str:
    return next((part for word, part in _WORDS.items() if word in name), "embedding")


@by_choices
def _miscount(
    *,
    total: str = "whole",
    shared: str = "once",
    unit: Callable[[Tensor], int] = Tensor.numel,
    as_tensors: bool = False,
    positions: str = "",
    **left_out: str,
) -> Callable[[nn.Module], dict[str, Any]]:
    """Build a count with some parts wrong.

    Args:
        total: of the "whole" encoder, the "sum" of the parts, without the embedding ("layers"),
            with "buffers", or what no part has counted (the "rest").
        shared: whether a shared parameter is counted "once" or "again" for each layer.
        unit: what is counted in a tensor.
        as_tensors: whether the counts are tensors.
        positions: the part to which learned positions are counted, if one.
        left_out: patterns of names of parameters that no part counts, each by any keyword.

    """

    def count(encoder: nn.Module) -> dict[str, Any]:
        named = list(encoder.named_parameters(remove_duplicate=shared == "once"))
        counts = dict.fromkeys(_PARTS, 0)
        patterns = (*left_out.values(), "^positions")
        for name, parameter in named:
            if not any(re.search(pattern, name) for pattern in patterns):
                counts[_part_of(name)] += unit(parameter)
            elif positions and name.startswith("positions"):
                counts[positions] += unit(parameter)
        counts["total"] = _total(encoder, counts, total, unit)
        return {k: torch.tensor(n) for k, n in counts.items()} if as_tensors else counts

    return count


def _total(
    encoder: nn.Module, counts: dict[str, int], kind: str, unit: Callable[[Tensor], int]
) -> int:
    if kind == "sum":
        return sum(counts.values())
    if kind == "rest":
        return sum(unit(tensor) for tensor in encoder.parameters()) - sum(counts.values())
    tensors = list(encoder.parameters()) + (list(encoder.buffers()) if kind == "buffers" else [])
    less = counts["embedding"] if kind == "layers" else 0
    return sum(unit(tensor) for tensor in tensors) - less


def _each_size_once(encoder: nn.Module) -> dict[str, int]:
    sizes: dict[str, set[int]] = {part: set() for part in (*_PARTS, "total")}
    for name, parameter in encoder.named_parameters():
        for part in (_part_of(name), "total"):
            sizes[part].add(parameter.numel())
    return {part: sum(found) for part, found in sizes.items()}


def _asks_for_its_weight(encoder: Any) -> dict[str, int]:
    encoder.final_norm.weight.numel()  # nn.Identity has none
    return count_oracle(encoder)


def _in_two_ways(
    name: str, says: str, hint: str, choices: Mapping[str, str]
) -> tuple[Mistake, Mistake]:
    """Return one miscount of parts twice: with the total added up and with the right total."""
    apart = f"{name}_with_the_total_right"
    return (
        Mistake(name, says, hint, _miscount(**choices, total="sum")),
        Mistake(apart, f"{says} The total is right.", hint, _miscount(**choices)),
    )


_LEFT_OUT: Final = (
    (
        "output_projection_left_out",
        "attention lacks w_o.",
        "Attention has four linear layers: count the whole module.",
        {"w_o": "w_o"},
    ),
    (
        "one_layer_only",
        "Only one layer is counted.",
        "The parts add up over all layers. Do counts of one layer replace those of another?",
        {"layers": r"layers\.[1-9]"},
    ),
    (
        "embedding_alone",
        "Only the embedding is counted: attention, feed_forward and layer_norm have nothing.",
        "parameters() and named_parameters() give a generator, which is empty after one pass: ask "
        "for it again, or make a list of it.",
        {"layers": r"layers\.|final_norm"},
    ),
    (
        "biases_left_out",
        "Only weights are counted, not biases.",
        "module.parameters() gives both.",
        {"biases": "bias$"},
    ),
    (
        "final_norm_left_out",
        "With norm_first there is one more norm, after the last layer.",
        "Compare the sum of your parts with the total.",
        {"final": "final_norm"},
    ),
    (
        "one_of_two_norms_left_out",
        "Only one of a layer's two norms is counted.",
        "norm_1 and norm_2 have a gain and a bias each.",
        {"norm": "norm_2"},
    ),
    (
        "norms_left_out",
        "The norms are not counted: layer_norm is 0.",
        "An encoder's norms may be of another class than yours: reach them by their names.",
        {"norms": "norm_|final_norm"},
    ),
    (
        "linear_1_left_out",
        "feed_forward lacks linear_1.",
        "The feed-forward has two linear layers: count the whole module.",
        {"linear": "linear_1"},
    ),
    (
        "linear_2_left_out",
        "feed_forward lacks linear_2.",
        "The feed-forward has two linear layers: count the whole module.",
        {"linear": "linear_2"},
    ),
    (
        "embedding_left_out",
        "embedding is not counted.",
        "The table's numbers are parameters like all others.",
        {"embedding": "embedding"},
    ),
)


EXERCISES = by_id(
    Exercise(
        PROBES["predict_feed_forward_share"],
        _share,
        (
            Mistake(
                "attentions_share",
                "That is attention's share.",
                "Attention has four D by D matrices. How many such squares are in two matrices of "
                "D by 4 D?",
                1 / 3,
            ),
            Mistake(
                "attention_of_one_matrix",
                "That is the share if attention had one matrix.",
                "Queries, keys and values have one each, and what joins the heads is one more.",
                8 / 9,
            ),
            Mistake(
                "half",
                "About half is right for the whole encoder with its embedding, not for one layer.",
                "Leave the embedding out: one layer has attention, feed-forward and two norms.",
                0.524,
            ),
            Mistake(
                "one_matrix",
                "That counts one of the two feed-forward matrices, or divides attention by the "
                "feed-forward.",
                "There are two matrices, D to 4 D and 4 D back to D; and a share is a part of the "
                "whole layer.",
                0.5,
            ),
            Mistake(
                "feed_forward_over_attention",
                "That is how many times as large the feed-forward is as attention.",
                "A share is a part of the whole: divide by all of the layer.",
                2.0,
            ),
            *(
                Mistake(
                    f"a_matrix_for_each_head_{name}",
                    "That is the share if each of the 8 heads had D by D matrices of its own.",
                    "Heads divide D among themselves: all of them together have D by D numbers.",
                    share,
                )
                for name, share in (("in_all_four", 8 / 40), ("but_in_w_o", 8 / 33))
            ),
            *(
                Mistake(
                    f"one_head_alone_{name}",
                    "That is the share if attention's matrices had the width of a single head.",
                    "There are 8 heads of D / 8: how wide are they together?",
                    share,
                )
                for name, share in (("in_all_four", 8 / 8.5), ("but_in_w_o", 8 / 9.375))
            ),
            *(
                Mistake(
                    f"a_number_of_parameters_{name}",
                    "That is how many parameters the feed-forward has, not its share.",
                    "A share is a part of the whole: divide by all of the layer.",
                    count,
                )
                for name, count in (
                    ("in_a_layer", 2_099_712),
                    ("in_six_layers", 12_598_272),
                )
            ),
            Mistake(
                "widths_compared",
                "That is 4 D out of 5 D: it compares the two widths, or one matrix of each part.",
                "Count all matrices, and all numbers in each: its rows times its columns.",
                0.8,
            ),
            Mistake(
                "one_matrix_and_no_output_projection",
                "That counts one matrix of the feed-forward and three of attention.",
                "The feed-forward has two; attention has a fourth, which joins the heads.",
                4 / 7,
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
        PROBES["count_parameters"],
        count_oracle,
        (
            *(found for parts in _LEFT_OUT for found in _in_two_ways(*parts)),
            Mistake(
                "only_matrices_counted",
                "Only matrices are counted: biases, and the gains of norms, are trained too.",
                "module.parameters() gives tensors of any number of axes. Count them all.",
                _miscount(unit=lambda p: p.numel() if p.dim() > 1 else 0),
            ),
            *(
                Mistake(
                    f"positions_counted_as_{part}",
                    f"Learned positions are counted as {part}.",
                    "Each part is named in the docstring; positions are in none of them, and in "
                    "the total.",
                    _miscount(positions=part),
                )
                for part in _PARTS
            ),
            Mistake(
                "frozen_left_out",
                "Parameters that ask for no gradient are not counted, but they are parameters too.",
                "Count what parameters() gives, whatever its requires_grad says.",
                _miscount(unit=lambda p: p.numel() * p.requires_grad),
            ),
            Mistake(
                "each_size_once",
                "Tensors of the same size count once: a set holds each number once.",
                "Two different tensors may have the same size. What has to be counted once is the "
                "tensor itself.",
                _each_size_once,
            ),
            Mistake(
                "bytes_counted",
                "Bytes are counted, four for each number in float32.",
                "numel() counts the numbers in a tensor.",
                _miscount(unit=lambda p: p.numel() * p.element_size()),
            ),
            Mistake(
                "total_of_the_four_parts",
                "The total is the sum of the four parts: what belongs to none of them is missing.",
                "Ask the whole encoder for its parameters.",
                _miscount(total="sum"),
            ),
            Mistake(
                "total_of_the_rest",
                "The total has only what no part has counted before.",
                "Each of the five numbers is counted separately: what do you carry over from one "
                "to the next?",
                _miscount(total="rest"),
            ),
            Mistake(
                "embedding_left_out_of_the_total",
                "The total counts only the layers.",
                "The embedding is trained too.",
                _miscount(total="layers"),
            ),
            Mistake(
                "buffers_counted",
                "The total includes the sinusoids, which are a buffer and not trained.",
                "parameters() leaves buffers out, state_dict() does not.",
                _miscount(total="buffers"),
            ),
            *_in_two_ways(
                "shared_weights_counted_again",
                "Weights that several layers share are counted once for each of them.",
                "A module's parameters() gives each tensor once; a loop over layers does not. "
                "Put the parts into one nn.ModuleList and ask that.",
                {"shared": "again"},
            ),
            Mistake(
                "final_norm_always_expected",
                "In post-norm final_norm is nn.Identity, which has no weight to count.",
                "Ask a module for parameters(): nn.Identity has none, and that is no error.",
                _asks_for_its_weight,
            ),
            Mistake(
                "tensors_counted",
                "Tensors are counted, not the numbers in them.",
                "p.numel() tells how many numbers a tensor holds.",
                _miscount(unit=lambda tensor: 1),
            ),
            Mistake(
                "rows_counted",
                "len() of a matrix is the number of its rows.",
                "p.numel() tells how many numbers a tensor holds.",
                _miscount(unit=len),
            ),
            Mistake(
                "counts_are_tensors",
                "The counts are tensors; plain numbers were asked for.",
                "numel() gives a plain number, and so does a sum(...) of them; .item() turns a "
                "tensor into one.",
                _miscount(as_tensors=True),
            ),
        ),
    ),
)

"""An encoder's parameters, predicted and counted: right answers, and wrong predictions."""

from collections.abc import Iterable

from torch import Tensor, nn

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
    Exercise(PROBES["count_parameters"], count_oracle),
)

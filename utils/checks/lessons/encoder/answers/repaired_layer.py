"""The layer to repair, which lacks a residual: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.part_variants import variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchLayer
from utils.checks.lessons.encoder.variants import LayerVariant


@by_choices
def _as_function(kind: type[Any], **choices: Any) -> Callable[..., Tensor]:
    """Return this kind of forward pass as a function of a layer, whose parts it uses."""
    made = variant(kind, **choices) if choices else kind

    def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
        sizes = layer.feed_forward.linear_1
        own = made(sizes.in_features, layer.self_attention.n_heads, sizes.out_features, 0.0)
        for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
            setattr(own, name, getattr(layer, name))
        output: Tensor = own(x, mask)
        return output

    return run


def _input_added_at_the_end(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    found = layer.norm_1(layer.self_attention(x, x, x, mask)[0])
    output: Tensor = layer.norm_2(x + found + layer.feed_forward(found))
    return output


def _past_the_first_norm(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = x + layer.self_attention(x, x, x, mask)[0]
    output: Tensor = layer.norm_2(x + layer.feed_forward(layer.norm_1(x)))
    return output


def _attention_added_again(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    found = layer.self_attention(x, x, x, mask)[0]
    output: Tensor = layer.norm_2(found + layer.feed_forward(layer.norm_1(x + found)))
    return output


def _attention_of_attention(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    found = layer.self_attention(x, x, x, mask)[0]
    x = layer.norm_1(x + layer.self_attention(found, found, found, mask)[0])
    output: Tensor = layer.norm_2(x + layer.feed_forward(x))
    return output


def _in_halves_fed_twice(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    x = layer.norm_1(x + layer.self_attention(x, x, x, mask)[0])
    output: Tensor = layer.norm_2(x + layer.feed_forward(layer.feed_forward(x)))
    return output


def _read_normalised(which: str) -> Callable[..., Tensor]:
    """Return the layer whose attention reads norm_1(x) as "q", "k" or "v"; x is added as it is."""

    def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
        read = (layer.norm_1(x) if name in which else x for name in "qkv")
        x = layer.norm_1(x + layer.self_attention(*read, mask)[0])
        output: Tensor = layer.norm_2(x + layer.feed_forward(x))
        return output

    return run


def _read_doubled(which: str) -> Callable[..., Tensor]:
    """Return the layer whose attention reads x + x as "q", "k" or "v", and which adds no x."""

    def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
        read = (x + x if name in which else x for name in "qkv")
        x = layer.norm_1(layer.self_attention(*read, mask)[0])
        output: Tensor = layer.norm_2(x + layer.feed_forward(x))
        return output

    return run


# A sub-layer's norm, input and output -> what is handed on.
Half = Callable[[Any, Tensor, Tensor], Tensor]


@by_choices
def _in_halves(
    *,
    first: Half = lambda norm, x, found: norm(x + found),
    second: Half = lambda norm, x, found: norm(x + found),
) -> Callable[..., Tensor]:
    """Return the layer with its two halves put together like this."""

    def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = first(layer.norm_1, x, layer.self_attention(x, x, x, mask)[0])
        return second(layer.norm_2, x, layer.feed_forward(x))

    return run


_HALVES: tuple[tuple[str, str, Half], ...] = (
    (
        "input_added_twice",
        "The input of a sub-layer is added twice: once more after the norm.",
        lambda norm, x, found: x + norm(x + found),
    ),
    (
        "input_doubled",
        "In the sum before the norm, a sub-layer's input weighs twice as much as what it gives: "
        "one is added twice, or the other is halved.",
        lambda norm, x, found: norm(x + x + found),
    ),
    (
        "sum_added_to_its_norm",
        "A sum is added to its own norm, so what is passed on is not normalised.",
        lambda norm, x, found: x + found + norm(x + found),
    ),
)


EXERCISES = by_id(
    Exercise(
        PROBES["repaired_layer"],
        _as_function(TorchLayer),
        (
            Mistake(
                "still_no_residual_around_attention",
                "It is not repaired yet: one of the two sub-layers still replaces its input.",
                "Compare the two lines that call a norm.",
                _as_function(LayerVariant, residuals="f"),
            ),
            Mistake(
                "residual_moved",
                "Now the other sub-layer has no residual.",
                "Both sub-layers need one.",
                _as_function(LayerVariant, residuals="a"),
            ),
            Mistake(
                "residual_from_the_layers_input",
                "The residual brings back the layer's input: what attention found reaches the "
                "output through the feed-forward alone.",
                "What goes into the feed-forward is what has to be added to its output.",
                _as_function(LayerVariant, residual_from="first"),
            ),
            Mistake(
                "residual_from_attention_alone",
                "The second residual brings back what attention found, without the input and "
                "without norm_1.",
                "What goes into the feed-forward is what has to be added to its output.",
                _attention_added_again,
            ),
            *(
                Mistake(
                    f"input_added_before_attention_to_{name}",
                    f"x is added to {what} that attention reads, not to what attention gives.",
                    "A residual goes around the sub-layer: first attention, then the sum.",
                    _read_doubled(which),
                )
                for name, what, which in (
                    ("the_queries", "the queries", "q"),
                    ("everything", "everything", "qkv"),
                )
            ),
            Mistake(
                "second_norm_twice",
                "norm_2 stands in both lines, and norm_1 is not used.",
                "Each sub-layer has a norm of its own.",
                _as_function(LayerVariant, norms="second"),
            ),
            *(
                Mistake(
                    f"{name}{where}",
                    says,
                    "For each sub-layer, add its input and its output once, and pass on the norm "
                    "of that sum, nothing else.",
                    _in_halves(**dict.fromkeys(halves, half)),
                )
                for name, says, half in _HALVES
                for where, halves in (
                    ("", ("first", "second")),
                    ("_around_attention", ("first",)),
                    ("_around_feed_forward", ("second",)),
                )
            ),
            Mistake(
                "residual_past_the_first_norm",
                "norm_1 acts only on what the feed-forward reads: the second residual still "
                "carries the sum from before it.",
                "Post-norm: what norm_1 gives replaces the sum in everything that follows.",
                _past_the_first_norm,
            ),
            Mistake(
                "norm_before_the_sum",
                "The residual is there, but the sum is not normalised.",
                "Post-norm: first the sum, then the norm.",
                _as_function(LayerVariant, orders=("inside", "pre"), ordered="a"),
            ),
            Mistake(
                "norm_of_the_input_added",
                "The residual is normalised, but the sum is not.",
                "Post-norm: first the sum, then the norm.",
                _in_halves(first=lambda norm, x, found: norm(x) + found),
            ),
            Mistake(
                "both_norms_before_the_sum",
                "Both norms come before the sums: what a sub-layer gives is normalised, not the "
                "sum.",
                "Post-norm: first the sum, then the norm.",
                _as_function(LayerVariant, orders=("inside", "pre")),
            ),
            Mistake(
                "no_residuals",
                "Now no sub-layer has a residual.",
                "Both sub-layers need one.",
                _as_function(LayerVariant, residuals=""),
            ),
            Mistake(
                "made_pre_norm",
                "The norms come before the sub-layers: that is a pre-norm layer.",
                "Post-norm: first the sum, then the norm.",
                _as_function(LayerVariant, orders=("pre", "pre")),
            ),
            *(
                Mistake(
                    f"{half}_half_made_pre_norm",
                    f"{norm} comes before {part}, as in a pre-norm layer, and the sum after it is "
                    "not normalised.",
                    "Post-norm: first the sum, then the norm.",
                    _as_function(LayerVariant, orders=("pre", "pre"), ordered=which),
                )
                for half, norm, part, which in (
                    ("first", "norm_1", "attention", "a"),
                    ("second", "norm_2", "the feed-forward", "f"),
                )
            ),
            Mistake(
                "norms_exchanged",
                "norm_2 serves attention, and norm_1 the feed-forward.",
                "They are numbered in the order in which x meets them.",
                _as_function(LayerVariant, norms="swapped"),
            ),
            Mistake(
                "norm_1_called_twice",
                "norm_1 is called for both sub-layers, and norm_2 for none.",
                "Each sub-layer has a norm of its own: compare the two lines.",
                _as_function(LayerVariant, norms="first"),
            ),
            Mistake(
                "second_norm_lost",
                "The second sum is no longer normalised.",
                "Only one thing was broken: keep the rest as it was.",
                _as_function(LayerVariant, normed=("a", "a")),
            ),
            Mistake(
                "first_norm_lost",
                "The first sum is no longer normalised.",
                "Only one thing was broken: keep the rest as it was.",
                _as_function(LayerVariant, normed=("f", "f")),
            ),
            Mistake(
                "feed_forward_reads_the_layers_input",
                "The feed-forward reads the layer's input, not the result of attention.",
                "Which tensor holds what attention found? That one goes in.",
                _as_function(LayerVariant, feeds="first"),
            ),
            Mistake(
                "mask_inverted",
                "The mask is upside down: it keeps what it should block.",
                "True means “may be attended to”. Only one thing was broken.",
                _as_function(LayerVariant, mask_as="inverted"),
            ),
            Mistake(
                "feed_forward_called_twice",
                "The feed-forward network is called twice: the second time on what it gave first.",
                "Each sub-layer has one turn: one call of feed_forward, and its result is added.",
                _in_halves_fed_twice,
            ),
            Mistake(
                "attention_called_twice",
                "Attention is called twice: the second time on what it gave the first time.",
                "Each sub-layer has one turn: one call of self_attention, and its result is added.",
                _attention_of_attention,
            ),
            *(
                Mistake(
                    name,
                    f"Attention reads {what} from a normalised x.",
                    "Post-norm: attention reads x as it is, and the norm comes after the sum.",
                    _read_normalised(which),
                )
                for name, what, which in (
                    ("attention_reads_the_normalised_input", "everything", "qkv"),
                    ("keys_and_values_normalised", "keys and values", "kv"),
                    ("queries_normalised", "queries", "q"),
                )
            ),
            Mistake(
                "input_added_at_the_end",
                "The layer's input is added, but only after the feed-forward.",
                "Attention's own result has to be added to what went into it.",
                _input_added_at_the_end,
            ),
            Mistake(
                "mask_lost",
                "The residual is there, but the mask got lost on the way.",
                "Only one thing was broken: keep the rest as it was.",
                _as_function(LayerVariant, mask_as="none"),
            ),
        ),
    ),
)

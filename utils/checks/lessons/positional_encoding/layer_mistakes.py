"""Known mistakes of both layers that add a table to their input."""

from collections.abc import Callable
from functools import partial
from typing import Any

from utils.checks.authoring.common_mistakes import (
    dropout_by_default,
    keep_buffer,
    keep_parameter,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.authoring.dropping import the_rest
from utils.checks.framework.exercise import Mistake
from utils.checks.lessons.positional_encoding.variants import layer_variant

_REFUSE = "The docstring asks for ValueError, so that the caller hears of it."
_AXES = "x is (B, T, D). Which of its sizes is the number of words?"


def layer_mistakes(*, learned: bool) -> tuple[Mistake, ...]:
    """Return the mistakes of either layer that adds a table to its input."""
    layer = partial(layer_variant, learned=learned)
    name = "LearnedPositionalEncoding" if learned else "PositionalEncoding"
    form = (
        no_forward(name, layer()),
        no_set_up(name, keep_parameter if learned else keep_buffer),
        own_dropout_rate(layer(own_rate=0.5)),
        dropout_by_default(layer(default_rate=0.1)),
    )
    alone = "positions or the words" if learned else "positions"
    return (*form, *_sum_mistakes(layer), *_length_mistakes(layer, alone))


def _sum_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes in the choice of rows and in the sum."""
    return (*_row_mistakes(layer), *_mixed_row_mistakes(layer), *_joining_mistakes(layer))


def _row_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "along_the_batch",
            "Positions run along the batch: every word of a sentence gets the same row.",
            "x is (B, T, D), batch first. Which of its sizes is the number of positions?",
            layer(along=0),
        ),
        Mistake(
            "whole_table_added",
            "The whole table is added, but it does not fit a shorter sentence.",
            "A sentence of T words needs the first T rows.",
            layer(rows="all"),
        ),
        Mistake(
            "last_rows",
            "The sentence gets the last rows of the table.",
            "The first word is at position 0.",
            layer(rows="last"),
        ),
        Mistake(
            "counted_from_one",
            "The first word gets the second row of the table.",
            "The first word is at position 0.",
            layer(rows="from one"),
        ),
        Mistake(
            "one_row_for_all",
            "Every word of a sentence gets the same row: that of the last position.",
            "An index picks one row; a slice takes all rows up to it.",
            layer(rows="the last alone"),
        ),
        Mistake(
            "row_after_the_last_for_all",
            "Every word of a sentence gets the same row, number T, which comes after its last "
            "position.",
            "An index picks one row; a slice takes all rows up to it.",
            layer(rows="the next alone"),
        ),
        Mistake(
            "rows_backwards",
            "The rows come in reverse order: the last word gets row 0.",
            "The first word is at position 0.",
            layer(rows="backwards"),
        ),
        Mistake(
            "axis_guessed",
            "Positions run along the batch as soon as there are more sentences than words.",
            "x is (B, T, D), whichever of the two is larger.",
            layer(along="longer"),
        ),
    )


def _mixed_row_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "mean_of_the_rows",
            "Every word of a sentence gets the same row: the mean over its positions.",
            "Each position has a row of its own, and nothing is averaged here.",
            layer(rows="mean"),
        ),
        Mistake(
            "rows_added_up",
            "Each word gets the sum of all rows up to its own: the table is added up along the "
            "sentence.",
            "Each position has a row of its own, and nothing is summed here but x and that row.",
            layer(rows="added up"),
        ),
    )


def _joining_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "rows_for_the_sentences",
            "As many rows are taken as there are sentences, and they do not fit the words.",
            "x is (B, T, D), batch first. Which of its sizes is the number of positions?",
            layer(along=0, turned=False),
        ),
        Mistake(
            "multiplied",
            "The words are multiplied by their positions.",
            "Positions are added to x.",
            layer(joined="product"),
        ),
        Mistake(
            "side_by_side",
            "Positions and words are joined side by side, so the result is twice as wide.",
            "Positions are added to x: the sizes stay.",
            layer(joined="beside"),
        ),
        Mistake(
            "rows_of_the_first_call",
            "The rows of the first call are kept, but the next sentence has another length.",
            "What depends on x belongs in forward, where it is made for every x.",
            layer(remembers=True),
        ),
        Mistake(
            "x_left_out",
            "Only the table is returned: the words are gone.",
            "Positions are added to x.",
            layer(joined="rows"),
        ),
        Mistake(
            "rows_left_out",
            "Only the words are returned: nothing is added to them.",
            "x + rows and x.add(rows) make a new tensor and leave x as it is. Is that returned?",
            layer(joined="words"),
        ),
        Mistake(
            "adds_in_train_mode_only",
            "In eval mode only the words are returned: positions are added in train mode alone.",
            "Dropout alone depends on the mode, and it knows the mode by itself.",
            layer(only_in_training=True),
        ),
        Mistake(
            "x_scaled_here",
            "The words are multiplied by sqrt(D) here.",
            "Scaling is the token embedding's job; this layer only adds.",
            layer(factor=staticmethod(lambda d_model: d_model**0.5)),
        ),
        Mistake(
            "sum_scaled",
            "The sum of words and positions is multiplied by sqrt(D).",
            "Scaling is the token embedding's job, before anything is added.",
            layer(sum_factor=staticmethod(lambda d_model: d_model**0.5)),
        ),
    )


def _refusal_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes at the table's end."""
    return (
        Mistake(
            "too_long_is_no_value_error",
            "A sentence longer than max_len does not raise ValueError.",
            "Compare T with the number of rows before you add, and raise ValueError with both "
            "numbers in its message.",
            layer(limit=None),
        ),
        *(
            Mistake(name, message, _REFUSE, layer(limit=None, past=past))
            for name, message, past in (
                (
                    "cut_to_max_len",
                    "A sentence longer than max_len is cut silently: the result has fewer words "
                    "than x.",
                    "cut",
                ),
                (
                    "rows_from_the_first_again",
                    "Words past max_len get the first rows once more, so "
                    "two places of a sentence look alike.",
                    "again",
                ),
                ("last_row_again", "All words past max_len get the last row.", "last"),
                ("table_grows", "A sentence longer than max_len gets further rows.", "grown"),
            )
        ),
        Mistake(
            "sentences_counted_for_words",
            "The number of sentences is compared with max_len, not the number of words.",
            _AXES,
            layer(measured=0),
        ),
        Mistake(
            "features_counted_for_words",
            "The number of features is compared with max_len, not the number of words.",
            _AXES,
            layer(measured=2),
        ),
        Mistake(
            "refuses_in_train_mode_only",
            "A sentence longer than max_len is refused in train mode only.",
            "The table ends in eval mode, too.",
            layer(in_training=True),
        ),
        Mistake(
            "max_len_refused",
            "A sentence of exactly max_len words is refused, but it fits.",
            "Positions 0 to max_len - 1 are max_len positions.",
            layer(limit=-1),
        ),
    )


def _dropout_mistakes(layer: Callable[..., Any], alone: str) -> tuple[Mistake, ...]:
    """Return the mistakes in what dropout acts on, and in how."""
    return (*_place_mistakes(layer, alone), *_share_mistakes(layer))


def _place_mistakes(layer: Callable[..., Any], alone: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "dropout_forgotten",
            "Dropout does nothing.",
            "An nn.Dropout made in __init__ has to be called in forward, too.",
            layer(dropping="none"),
        ),
        Mistake(
            "dropout_always_on",
            "Dropout acts in eval mode, too.",
            "F.dropout knows nothing of the module's mode, and an nn.Dropout made in forward is "
            "always in train mode. Make it in __init__.",
            layer(dropping="always"),
        ),
        Mistake(
            "dropout_before_the_sum",
            f"Dropout acts on the {alone} alone.",
            "It belongs on the sum of words and positions: the last thing that forward does.",
            layer(dropping="positions"),
        ),
        Mistake(
            "dropout_twice",
            "Dropout acts twice: on the sum, and once more on a part of it.",
            "One dropout: the last thing that forward does.",
            layer(dropping="twice"),
        ),
        Mistake(
            "sum_dropped_out_twice",
            "Dropout acts twice on the sum: too much is lost, and the rest grows too large.",
            "One dropout: the last thing that forward does.",
            layer(dropping="sum twice"),
        ),
    )


def _share_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "dropout_not_scaled",
            "What dropout keeps is not scaled up.",
            "What is kept is divided by 1 - dropout, as nn.Dropout does.",
            layer(dropping="unscaled"),
        ),
        Mistake(
            "scaled_in_eval_mode",
            "In eval mode the sum is made smaller, by 1 - dropout.",
            "Train mode makes up for what it drops, so eval mode leaves everything as it is.",
            layer(dropping="shrunk"),
        ),
        Mistake(
            "dropout_is_what_is_kept",
            "`dropout` is used as the share of entries that are kept.",
            "A share of `dropout` is dropped: compare random numbers with it the other way round.",
            layer(share=staticmethod(the_rest)),
        ),
        Mistake(
            "dropout_of_0_drops_all",
            "`dropout` is used as the share that is kept: a dropout of 0 leaves nothing.",
            "nn.Dropout takes the share that is dropped, and so does this layer.",
            layer(share=staticmethod(lambda rate: 1 - rate)),
        ),
        *(
            Mistake(
                name,
                f"Dropout drops {what}, not single entries.",
                "Each entry of the sum is dropped independently, as nn.Dropout does.",
                layer(at_once=axis),
            )
            for axis, name, what in (
                ((0,), "dropped_alike_in_all_sentences", "the same entries of all sentences"),
                ((1,), "whole_columns_dropped", "an entry at all positions of a sentence at once"),
                ((2,), "whole_words_dropped", "all entries of a word at once"),
            )
        ),
    )


def _length_mistakes(layer: Callable[..., Any], alone: str) -> tuple[Mistake, ...]:
    """Return the mistakes at the table's end, in dropout, and in how the table is kept.

    `alone` is on what dropout can act alone with the same results.
    """
    return (
        *_refusal_mistakes(layer),
        *_dropout_mistakes(layer, alone),
        Mistake(
            "cast_to_float32",
            "The result is float32 whatever the input is.",
            "Is there a .float() or a dtype=torch.float32 on the way?",
            layer(float32=True),
        ),
        Mistake(
            "plain_attribute",
            "The table is a plain attribute, which the module does not know: no optimiser finds "
            "it, and it stays behind when the module moves.",
            "Look at nn.Parameter for what is trained, and at register_buffer for what is not.",
            layer(kept_as="attribute"),
        ),
    )

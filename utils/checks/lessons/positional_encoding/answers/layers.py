"""The layers of lesson 04 that add positions: right answers and common mistakes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from utils.checks.authoring.common_mistakes import (
    keep_buffer,
    keep_parameter,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.variants import layer_variant

_REFUSE = "The docstring asks for ValueError: who calls should learn of it."
_AXES = "x is (B, T, D). Which of its sizes is the number of words?"


def _layer_mistakes(*, learned: bool) -> tuple[Mistake, ...]:
    """Return the mistakes of either layer that adds a table to its input."""
    layer = partial(layer_variant, learned=learned)
    name = "LearnedPositionalEncoding" if learned else "PositionalEncoding"
    form = (
        no_forward(name, layer()),
        no_set_up(name, keep_parameter if learned else keep_buffer),
        own_dropout_rate(layer(own_rate=0.5)),
    )
    alone = "positions or the words" if learned else "positions"
    return (*form, *_sum_mistakes(layer), *_length_mistakes(layer, alone))


def _sum_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes in the choice of rows and in the sum."""
    return (*_row_mistakes(layer), *_joining_mistakes(layer))


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
            "The whole table is added, and does not fit a shorter sentence.",
            "A sentence of T words needs the first T rows.",
            layer(rows="all"),
        ),
        Mistake(
            "last_rows",
            "The sentence gets the last rows of the table.",
            "The first word stands at position 0.",
            layer(rows="last"),
        ),
        Mistake(
            "counted_from_one",
            "The first word gets the second row of the table.",
            "The first word stands at position 0.",
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
            "Every word of a sentence gets the same row, number T, which lies behind its end.",
            "An index picks one row; a slice takes all rows up to it.",
            layer(rows="the next alone"),
        ),
        Mistake(
            "rows_backwards",
            "The rows come in reverse order: the last word gets row 0.",
            "The first word stands at position 0.",
            layer(rows="backwards"),
        ),
        Mistake(
            "mean_of_the_rows",
            "Every word of a sentence gets the same row: the mean over its positions.",
            "Each position has a row of its own, and nothing is averaged here.",
            layer(rows="mean"),
        ),
        Mistake(
            "axis_guessed",
            "Positions run along the batch as soon as there are more sentences than words.",
            "x is (B, T, D), whichever of the two is larger.",
            layer(along="longer"),
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
            "Positions are set beside the words, so the result is twice as wide.",
            "Positions are added to x: the sizes stay.",
            layer(joined="beside"),
        ),
        Mistake(
            "rows_of_the_first_call",
            "The rows of the first call are kept, and the next sentence has another length.",
            "What depends on x belongs in forward, anew for every x.",
            layer(remembers=True),
        ),
        Mistake(
            "x_left_out",
            "The table comes back alone: the words are gone.",
            "Positions are added to x.",
            layer(joined="rows"),
        ),
        Mistake(
            "x_scaled_here",
            "The words are multiplied by sqrt(D) here.",
            "Scaling is the token embedding's work; this layer only adds.",
            layer(factor=staticmethod(lambda d_model: d_model**0.5)),
        ),
        Mistake(
            "sum_scaled",
            "The sum of words and positions is multiplied by sqrt(D).",
            "Scaling is the token embedding's work, before anything is added.",
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
                    "A sentence longer than max_len is cut, without a word: the "
                    "result has fewer words than x.",
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
            "A sentence of exactly max_len words is refused, and it fits.",
            "Positions 0 to max_len - 1 are max_len positions.",
            layer(limit=-1),
        ),
    )


def _length_mistakes(layer: Callable[..., Any], alone: str) -> tuple[Mistake, ...]:
    """Return the mistakes at the table's end, in dropout, and in how the table is kept.

    `alone` is on what dropout can act alone with the same results.
    """
    return (
        *_refusal_mistakes(layer),
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
            "Dropout acts twice: on the sum, and once more on it or on a part of it.",
            "One dropout: the last thing that forward does.",
            layer(dropping="twice"),
        ),
        Mistake(
            "cast_to_float32",
            "The result is float32 whatever the input is.",
            "Is there a .float() or a dtype=torch.float32 on the way?",
            layer(float32=True),
        ),
        Mistake(
            "plain_attribute",
            "The table is a plain attribute: the module does not know it, so that it stays behind "
            "when the module moves.",
            "Look at nn.Parameter for what is trained, and at register_buffer for what is not.",
            layer(kept_as="attribute"),
        ),
    )


EXERCISES = by_id(
    Exercise(
        PROBES["PositionalEncoding"],
        layer_variant(),
        (
            *_layer_mistakes(learned=False),
            Mistake(
                "dropout_on_the_words",
                "Dropout acts on the words alone.",
                "It belongs on the sum of words and positions: the last thing that forward does.",
                layer_variant(dropping="words"),
            ),
            Mistake(
                "a_parameter",
                "The sinusoids are a parameter, so the optimiser would change them.",
                "register_buffer keeps a tensor with the module without training it.",
                layer_variant(kept_as="parameter"),
            ),
            Mistake(
                "register_buffer_assigned",
                "self.pe is None: what register_buffer returns, nothing, stands where the table "
                "should.",
                "register_buffer makes self.pe by itself: nothing is assigned.",
                layer_variant(kept_as="assigned"),
            ),
            Mistake(
                "number_type_of_the_table",
                "The result has the number type of the table where x has a shorter one.",
                "Bring the rows into the type of x before you add them.",
                layer_variant(keeps_type=False),
            ),
            Mistake(
                "max_len_ignored",
                "The table has 5,000 rows, whatever max_len is.",
                "Pass max_len on to sinusoidal_encoding.",
                layer_variant(all_rows=5000),
            ),
            Mistake(
                "buffer_beside_the_table",
                "What is added does not come from self.pe: the buffer is there, and another table "
                "is used.",
                "One table is enough: the one that is registered.",
                layer_variant(kept_as="beside"),
            ),
        ),
        tolerance=1e-4,
    ),
    Exercise(
        PROBES["LearnedPositionalEncoding"],
        layer_variant(learned=True),
        (
            *_layer_mistakes(learned=True),
            Mistake(
                "under_another_name",
                "There is no parameter called `weight`.",
                "A table inside an nn.Embedding has another name: make it an nn.Parameter called "
                "`weight`.",
                layer_variant(learned=True, kept_as="embedding"),
            ),
            Mistake(
                "a_buffer",
                "The table is a buffer, which no optimiser trains.",
                "What is trained is an nn.Parameter.",
                layer_variant(learned=True, kept_as="buffer"),
            ),
            Mistake(
                "copy_of_the_table_used",
                "What is added is not self.weight but a copy made in __init__, which is never "
                "trained.",
                "Use self.weight itself in forward.",
                layer_variant(learned=True, kept_as="copied"),
            ),
            Mistake(
                "frozen",
                "The table is a parameter that asks for no gradient, so it is never trained.",
                "requires_grad has to stay True.",
                layer_variant(learned=True, kept_as="frozen"),
            ),
            Mistake(
                "one_number_for_each_position",
                "self.weight holds one number for each position, not a row of D.",
                "(max_len, d_model): each entry of a word gets its own.",
                layer_variant(learned=True, shaped="number"),
            ),
            Mistake(
                "weight_transposed",
                "Rows and columns of self.weight have changed places.",
                "A row for each position, a column for each entry of a word.",
                layer_variant(learned=True, shaped="turned"),
            ),
            Mistake(
                "starts_as_numbers_of_positions",
                "The table starts with numbers that grow with max_len, like 0, 1, 2, ...: far "
                "words are lost in the sum.",
                "Start with small random numbers: look at torch.randn and torch.nn.init.",
                layer_variant(learned=True, counts=True),
            ),
            Mistake(
                "starts_without_numbers",
                "The table starts with what happened to be in memory, or with NaN.",
                "torch.empty only takes memory: something has to be written there. Look at "
                "torch.randn and torch.nn.init.",
                layer_variant(learned=True, start=torch.nan),
            ),
            Mistake(
                "starts_too_large",
                "The table starts so large that the words are lost in the sum.",
                "Words have entries of about 1: what is added to them should be no larger.",
                layer_variant(learned=True, start=1000.0),
            ),
        ),
    ),
)

"""The three layers of lesson 04: added positions, learned ones, and scaled embeddings."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from utils.checks.authoring.common_mistakes import (
    keep_buffer,
    keep_module,
    keep_parameter,
    no_forward,
    no_set_up,
    own_dropout_rate,
)
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.variants import embedding_variant, layer_variant


def _layer_mistakes(*, learned: bool) -> tuple[Mistake, ...]:
    """Return the mistakes of either layer that adds a table to its input."""
    layer = partial(layer_variant, learned=learned)
    name = "LearnedPositionalEncoding" if learned else "PositionalEncoding"
    form = (
        no_forward(name, layer()),
        no_set_up(name, keep_parameter if learned else keep_buffer),
        own_dropout_rate(layer(own_rate=0.5)),
    )
    return (*form, *_sum_mistakes(layer), *_length_mistakes(layer))


def _sum_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes in the choice of rows and in the sum."""
    return (*_row_mistakes(layer), *_joining_mistakes(layer))


def _row_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "along_the_batch",
            "Positions run along the batch: every word of a sentence gets the same row.",
            "x is (B, T, D), batch first. Which of its sizes is the number of positions?",
            layer(along=0, limit=None),
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


def _length_mistakes(layer: Callable[..., Any]) -> tuple[Mistake, ...]:
    """Return the mistakes at the table's end, in dropout, and in how the table is kept."""
    return (
        Mistake(
            "too_long_is_no_value_error",
            "A sentence longer than max_len does not raise ValueError.",
            "Compare T with the number of rows before you add, and raise ValueError with both "
            "numbers in its message.",
            layer(limit=None),
        ),
        Mistake(
            "max_len_refused",
            "A sentence of exactly max_len words is refused, and it fits.",
            "Positions 0 to max_len - 1 are max_len positions.",
            layer(limit=-1),
        ),
        Mistake(
            "dropout_forgotten",
            "Dropout does nothing.",
            "An nn.Dropout made in __init__ has to be called in forward, too.",
            layer(dropping="none"),
        ),
        Mistake(
            "dropout_always_on",
            "Dropout acts in eval mode, too.",
            "F.dropout knows nothing of the module's mode; nn.Dropout does.",
            layer(dropping="always"),
        ),
        Mistake(
            "dropout_before_the_sum",
            "Dropout acts on the positions alone.",
            "It belongs on the sum of words and positions: the last thing that forward does.",
            layer(dropping="positions"),
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
    Exercise(
        PROBES["TokenEmbedding"],
        embedding_variant(),
        (
            no_forward("TokenEmbedding", embedding_variant()),
            no_set_up("TokenEmbedding", keep_module),
            Mistake(
                "factor_is_trained",
                "A single number is a parameter beside the table: training would change the "
                "factor.",
                "The table is the only parameter: a plain number is enough.",
                embedding_variant(trained_factor=True),
            ),
            Mistake(
                "no_parameter",
                "The module has no parameter: its table is made anew in forward, or is a plain "
                "tensor.",
                "Make the table in __init__, as nn.Embedding or as nn.Parameter.",
                embedding_variant(anew=True),
            ),
            *(
                Mistake(
                    f"linear_layer_after_the_table{with_bias}",
                    "A linear layer follows the table: it has parameters of its own.",
                    "The table's rows, scaled, are the result.",
                    embedding_variant(projected=kind),
                )
                for with_bias, kind in (("", "plain"), ("_with_bias", "bias"))
            ),
            Mistake(
                "table_transposed",
                "The table has a row for each dimension and a column for each word.",
                "nn.Embedding takes the number of rows first: one for each word.",
                embedding_variant(turned=True),
            ),
            Mistake(
                "rows_of_length_one",
                "The rows are brought to length one before they are scaled.",
                "Only the factor changes a row here: its length is learned, too.",
                embedding_variant(unit=True),
            ),
            Mistake(
                "scaled_table_kept",
                "The table of the first call is kept, so training would not reach later calls.",
                "Look up and scale in every forward.",
                embedding_variant(remembers=True),
            ),
            Mistake(
                "not_scaled",
                "The rows come out as they are: not scaled in forward.",
                "Multiply in forward. Scaling the table once, when it is made, would be undone by "
                "training and by loading weights.",
                embedding_variant(factor=staticmethod(lambda words, d_model: 1.0)),
            ),
            Mistake(
                "scaled_by_d_model",
                "The rows are multiplied by D itself.",
                "By the square root of D.",
                embedding_variant(factor=staticmethod(lambda words, d_model: d_model)),
            ),
            Mistake(
                "divided_by_the_root",
                "The rows are divided by sqrt(D).",
                "The rows should become longer, not shorter.",
                embedding_variant(factor=staticmethod(lambda words, d_model: d_model**-0.5)),
            ),
            Mistake(
                "scaled_by_vocabulary",
                "The rows are multiplied by the root of the vocabulary's size.",
                "It is the width of a row that counts, not their number.",
                embedding_variant(factor=staticmethod(lambda words, d_model: words**0.5)),
            ),
            Mistake(
                "padding_forgotten",
                "The padding row is a row like any other.",
                "nn.Embedding can be told which id is padding.",
                embedding_variant(zeroed=False, masked=False),
            ),
            Mistake(
                "padding_row_drawn_again",
                "The padding row is not zero at the start.",
                "nn.Embedding clears it if it is told padding_idx. Where something fills the whole "
                "table afterwards (torch.nn.init, torch.randn), clear the row after that.",
                embedding_variant(zeroed=False),
            ),
            Mistake(
                "padding_row_trained",
                "The padding row starts at zero, and a gradient reaches it: after one step it is "
                "zero no longer.",
                "nn.Embedding can be told which id is padding, and keeps gradients from its row.",
                embedding_variant(masked=False),
            ),
            Mistake(
                "padding_is_always_0",
                "padding_idx is accepted and then ignored.",
                "Pass it on.",
                embedding_variant(fixed_padding=True),
            ),
            Mistake(
                "frozen",
                "The table asks for no gradient, so words would keep their random vectors.",
                "requires_grad has to stay True.",
                embedding_variant(frozen=True),
            ),
            Mistake(
                "cast_to_float32",
                "The result is float32 whatever the table is.",
                "Is there a .float() or a dtype=torch.float32 on the way?",
                embedding_variant(float32=True),
            ),
        ),
    ),
)

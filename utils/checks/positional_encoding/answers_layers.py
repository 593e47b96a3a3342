"""The three layers of lesson 04: added positions, learned ones, and scaled embeddings."""

from typing import Any

import torch

from utils.checks.exercise import Exercise, Mistake
from utils.checks.module_mistakes import no_forward, own_dropout_rate
from utils.checks.positional_encoding.probes import PROBES
from utils.checks.positional_encoding.variants import embedding_variant, layer_variant

_PROBES = {probe.exercise: probe for probe in PROBES}


def _layer_mistakes(*, learned: bool) -> tuple[Mistake, ...]:
    """What goes wrong in either layer that adds a table to its input."""

    def layer(**choices: Any) -> Any:
        return layer_variant(learned=learned, **choices)

    return (
        no_forward("LearnedPositionalEncoding" if learned else "PositionalEncoding", layer()),
        own_dropout_rate(layer(own_rate=0.5)),
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
            "x_left_out",
            "The table comes back alone: the words are gone.",
            "Positions are added to x.",
            layer(table_alone=True, dropping="none"),
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
            "Dropout acts on a part of the sum.",
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


LAYERS = (
    Exercise(
        _PROBES["PositionalEncoding"],
        layer_variant(),
        (
            *_layer_mistakes(learned=False),
            Mistake(
                "a_parameter",
                "The sinusoids are a parameter, so the optimiser would change them.",
                "register_buffer keeps a tensor with the module without training it.",
                layer_variant(kept_as="parameter"),
            ),
        ),
        tolerance=1e-4,
    ),
    Exercise(
        _PROBES["LearnedPositionalEncoding"],
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
        _PROBES["TokenEmbedding"],
        embedding_variant(),
        (
            no_forward("TokenEmbedding", embedding_variant()),
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
                "Functions of torch.nn.init fill the whole table, and so does torch.randn. Clear "
                "the row after them.",
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

"""The layers of lesson 04 that add positions: right answers and common mistakes."""

import torch

from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.layer_mistakes import layer_mistakes
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.variants import layer_variant

EXERCISES = by_id(
    Exercise(
        PROBES["PositionalEncoding"],
        layer_variant(),
        (
            *layer_mistakes(learned=False),
            Mistake(
                "dropout_on_the_words",
                "Dropout acts on the words alone.",
                "It belongs on the sum of words and positions: the last thing that forward does.",
                layer_variant(dropping="words"),
            ),
            Mistake(
                "a_parameter",
                "The sinusoids are a parameter; a buffer is asked for. A parameter is trained, and "
                "a frozen one is still counted, and may be unfrozen with the others.",
                "register_buffer keeps a tensor with the module without training it.",
                layer_variant(kept_as="parameter"),
            ),
            Mistake(
                "register_buffer_assigned",
                "self.pe is None: register_buffer returns nothing, and that is assigned to "
                "self.pe.",
                "register_buffer sets self.pe by itself: there is nothing to assign.",
                layer_variant(kept_as="assigned"),
            ),
            Mistake(
                "number_type_of_the_table",
                "Where x has a shorter number type, the result has the table's type instead.",
                "Convert the rows to the type of x before you add them.",
                layer_variant(keeps_type=False),
            ),
            Mistake(
                "table_takes_on_the_words_type",
                "The buffer itself is converted to x's number type: after one call in a short "
                "type, all later calls use a rounded table.",
                "Convert the rows that are added, and leave self.pe as it is.",
                layer_variant(recast=True),
            ),
            Mistake(
                "max_len_ignored",
                "The table has 5,000 rows, whatever max_len is.",
                "Pass max_len on to sinusoidal_encoding.",
                layer_variant(all_rows=5000),
            ),
            Mistake(
                "buffer_beside_the_table",
                "What is added does not come from self.pe: the buffer is there, but another table "
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
            *layer_mistakes(learned=True),
            Mistake(
                "under_another_name",
                "There is no parameter called `weight`.",
                "A table inside an nn.Embedding has another name: make it an nn.Parameter called "
                "`weight`.",
                layer_variant(learned=True, kept_as="embedding"),
            ),
            Mistake(
                "weight_is_a_module",
                "self.weight is a whole module, whose table is self.weight.weight.",
                "An nn.Parameter of shape (max_len, d_model) is enough, without an nn.Embedding "
                "around it.",
                layer_variant(learned=True, kept_as="module"),
            ),
            Mistake(
                "a_buffer",
                "The table is a buffer, which no optimiser trains.",
                "What is trained is an nn.Parameter.",
                layer_variant(learned=True, kept_as="buffer"),
            ),
            Mistake(
                "copy_of_the_table_used",
                "What is added does not come from self.weight, but from another tensor, such as a "
                "copy made in __init__, which is never trained.",
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
                "odd_width_refused",
                "An odd D is refused, though only sinusoids come in pairs.",
                "Start with small random numbers, of any width: look at torch.randn and "
                "torch.nn.init.",
                layer_variant(learned=True, odd=False),
            ),
            Mistake(
                "odd_width_rounded_down",
                "Where D is odd, self.weight has one column too few.",
                "Only sinusoids come in pairs. Is there a // 2 on the way?",
                layer_variant(learned=True, shaped="even"),
            ),
            Mistake(
                "one_number_for_each_position",
                "self.weight holds one number for each position, not a row of D.",
                "(max_len, d_model): each entry of a word gets its own.",
                layer_variant(learned=True, shaped="number"),
            ),
            Mistake(
                "weight_transposed",
                "Rows and columns of self.weight are swapped.",
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
                "The table starts with whatever happened to be in memory, or with NaN.",
                "torch.empty only reserves memory: you have to fill it. Look at torch.randn and "
                "torch.nn.init.",
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

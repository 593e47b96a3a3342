"""Scaled embeddings: right answers and common mistakes."""

import math

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES
from utils.checks.lessons.positional_encoding.variants import embedding_variant

EXERCISES = by_id(
    Exercise(
        PROBES["TokenEmbedding"],
        embedding_variant(),
        (
            no_forward("TokenEmbedding", embedding_variant()),
            no_set_up("TokenEmbedding", keep_module),
            Mistake(
                "factor_is_trained",
                "The factor is a parameter beside the table, so training would change it.",
                "The table is the only parameter: a plain number is enough.",
                embedding_variant(trained_factor=True),
            ),
            Mistake(
                "no_parameter",
                "The module has no parameter: its table is created again in each forward, or is a "
                "plain tensor.",
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
                "linear_layer_for_the_table",
                "A linear layer is used as the table: its bias is a second parameter, which is "
                "added to every word, and its weight is (D, V).",
                "A look-up has no bias: nn.Embedding takes ids as they are, without one-hot rows.",
                embedding_variant(turned=True, biased=True),
            ),
            Mistake(
                "bias_beside_the_table",
                "A bias is a second parameter: it is added to every word, and to padding too.",
                "The table is the only parameter.",
                embedding_variant(biased=True),
            ),
            Mistake(
                "layer_norm_after_the_table",
                "A layer norm follows the table: it has parameters of its own, and undoes the "
                "scale.",
                "The table's rows, scaled, are the result.",
                embedding_variant(projected="norm"),
            ),
            Mistake(
                "table_transposed",
                "The table has a row for each dimension and a column for each word.",
                "nn.Embedding takes the number of rows first: one for each word.",
                embedding_variant(turned=True),
            ),
            Mistake(
                "rows_of_length_one",
                "The rows are normalised to length one before they are multiplied.",
                "A row's length is learned too: only the factor should change it here.",
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
                "Multiply by the square root of D.",
                embedding_variant(factor=staticmethod(lambda words, d_model: d_model)),
            ),
            Mistake(
                "scaled_by_half_of_d_model",
                "The rows are multiplied by D / 2.",
                "Multiply by the square root of D. `**` binds more strongly than `/`: where do "
                "brackets belong?",
                embedding_variant(factor=staticmethod(lambda words, d_model: d_model / 2)),
            ),
            Mistake(
                "root_rounded_down",
                "The root of D is rounded down to a whole number.",
                "Look for isqrt, int() or //.",
                embedding_variant(factor=staticmethod(lambda words, d_model: math.isqrt(d_model))),
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
                "The padding row is treated like any other row.",
                "nn.Embedding can be told which id is padding.",
                embedding_variant(zeroed=False, masked=False),
            ),
            Mistake(
                "padding_row_drawn_again",
                "The padding row is not zero at the start.",
                "nn.Embedding clears it if it is told padding_idx; clearing the result in forward "
                "leaves the row as it was. Where something fills the whole table afterwards "
                "(torch.nn.init, torch.randn), clear the row after that.",
                embedding_variant(zeroed=False),
            ),
            Mistake(
                "padding_row_trained",
                "The padding row starts at zero, but a gradient reaches it: after one training "
                "step it is no longer zero.",
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
                "word_0_cleared",
                "forward clears the vector of id 0, whatever padding_idx is: where padding has "
                "another id, word 0 is lost.",
                "The padding row is zero by itself: nothing has to be cleared in forward.",
                embedding_variant(clears_0=True),
            ),
            Mistake(
                "id_0_taken_for_padding",
                "forward clears the vector of id 0, whatever padding_idx is: where padding has "
                "another id, word 0 is lost and a gradient reaches the padding row.",
                "nn.Embedding can be told which id is padding, and keeps gradients from its row.",
                embedding_variant(clears_0=True, masked=False),
            ),
            Mistake(
                "zero_taken_for_no_padding",
                "Where padding has id 0, its row is treated like any other row.",
                "`or` and `if padding_idx:` treat 0 as if nothing were given. Pass the number on "
                "as it is.",
                embedding_variant(no_row_0=True),
            ),
            Mistake(
                "table_grows_at_every_call",
                "The table itself is scaled, and again at every call: it grows without end.",
                "Scale what was looked up, and leave the table as it is.",
                embedding_variant(grows=True),
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

"""MultiHeadAttention: mistakes in the scores and in what turns them into weights."""

from utils.checks.exercise import Mistake
from utils.checks.lessons.attention.answers.softmaxes import softmax_mistakes
from utils.checks.lessons.multi_head_attention.variants import heads_variant

SCALING = (
    Mistake(
        "scaled_by_d_model",
        "The scores are divided by sqrt(D); a head's queries and keys have Dh entries.",
        "The scale undoes the spread of a sum. How many terms does it have within one head?",
        heads_variant(scale=staticmethod(lambda d_model, d_head: d_model**-0.5)),
    ),
    Mistake(
        "scaled_by_the_number_of_heads",
        "The scores are divided by sqrt(H); a head's queries and keys have Dh entries.",
        "The scale undoes the spread of a sum. How many terms does it have within one head?",
        heads_variant(scale=staticmethod(lambda d_model, d_head: (d_head / d_model) ** 0.5)),
    ),
    Mistake(
        "no_scaling",
        "The scores are not divided by sqrt(Dh).",
        "Call your scaled_dot_product_attention rather than writing it again.",
        heads_variant(scale=staticmethod(lambda d_model, d_head: 1.0)),
    ),
    Mistake(
        "softmax_over_queries",
        "Softmax runs over the queries: columns sum to one, rows do not.",
        "The keys are the last axis of (B, H, T, S).",
        heads_variant(axis=-2),
    ),
    Mistake(
        "softmax_over_heads",
        "Softmax runs over the heads: they compete with one another.",
        "Each head spreads one unit of attention over the keys, the last axis of (B, H, T, S).",
        heads_variant(axis=1),
    ),
    *(
        Mistake(
            name,
            message,
            "The scale undoes the spread of a sum. How many terms does it have within one head?",
            heads_variant(scale=staticmethod(scale)),
        )
        for name, message, scale in (
            (
                "divided_by_d_head",
                "The scores are divided by Dh, not by its root.",
                lambda d_model, d_head: 1 / d_head,
            ),
            (
                "divided_by_eight",
                "The scores are divided by 8, whatever Dh is.",
                lambda d_model, d_head: 1 / 8,
            ),
            (
                "multiplied_by_the_root",
                "The scores are multiplied by sqrt(Dh) instead of divided.",
                lambda d_model, d_head: d_head**0.5,
            ),
        )
    ),
    *(
        Mistake(
            name,
            f"The scores are divided by the root of {called}.",
            "The scale undoes the spread of a sum. How many terms does it have within one head?",
            heads_variant(
                scale=staticmethod(lambda d_model, d_head: 1.0), product=staticmethod(product)
            ),
        )
        for name, called, product in (
            (
                "divided_by_sqrt_of_length",
                "a sequence length",
                lambda q, k: q @ k.mT / k.shape[-2] ** 0.5,
            ),
            (
                "divided_by_sqrt_of_queries",
                "the number of queries",
                lambda q, k: q @ k.mT / q.shape[-2] ** 0.5,
            ),
        )
    ),
    Mistake(
        "softmax_over_batch",
        "Softmax runs over the batch: the sentences compete with one another.",
        "Each head spreads one unit of attention over the keys, the last axis of (B, H, T, S).",
        heads_variant(axis=0),
    ),
    *softmax_mistakes(heads_variant),
    Mistake(
        "other_axes_transposed",
        "Axes 1 and 2 of the keys are swapped: with an axis for heads they are not the last two.",
        "Count from the end: -1 and -2 are the last two axes, however many there are.",
        heads_variant(product=staticmethod(lambda q, k: q @ k.transpose(1, 2))),
    ),
    Mistake(
        "no_transpose",
        "The matrices do not fit: queries and keys both have Dh last.",
        "A query meets a key along Dh: swap the last two axes of the keys.",
        heads_variant(product=staticmethod(lambda q, k: q @ k)),
    ),
)

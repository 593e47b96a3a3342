"""Counting parameters: right answers and common mistakes."""

from torch import nn

from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES

D_MODEL = 512
BY_THE_HEADS = (
    Mistake(
        "doubled_with_the_heads",
        "The count would double only if every head kept its width.",
        "D stays the same: when there are more heads, what becomes of Dh?",
        8 * (D_MODEL**2 + D_MODEL),
    ),
    Mistake(
        "halved_with_the_width",
        "Each head became narrower, but there are more of them.",
        "Does any of the four layers change its size?",
        2 * (D_MODEL**2 + D_MODEL),
    ),
)


def _count(n_heads: int) -> int:
    """Count the parameters of torch's own attention."""
    return sum(p.numel() for p in nn.MultiheadAttention(D_MODEL, n_heads).parameters())


def _count_mistakes(n_heads: int) -> tuple[Mistake, ...]:
    weights, biases, width = D_MODEL**2, D_MODEL, D_MODEL // n_heads
    return (
        Mistake(
            "no_output_projection",
            "These are queries, keys and values only. The heads also need to be put together.",
            "How many nn.Linear does the class have?",
            3 * (weights + biases),
        ),
        Mistake(
            "no_bias",
            "The four matrices are counted, and their biases are not.",
            "A bias has one number for each output of its layer.",
            4 * weights,
        ),
        Mistake(
            "one_bias",
            "One of the four biases is counted, and each layer has its own.",
            "A bias has one number for each output of its layer.",
            4 * weights + biases,
        ),
        Mistake(
            "matrices_of_one_head",
            "That counts four matrices as narrow as a single head.",
            "There are H heads of Dh features, and H Dh = D.",
            4 * (width * D_MODEL + biases),
        ),
        Mistake(
            "matrices_of_queries_keys_and_values",
            "These are the matrices of queries, keys and values; their biases and the output "
            "projection are missing.",
            "How many nn.Linear does the class have, and what does each of them train?",
            3 * weights,
        ),
        Mistake(
            "every_head_at_full_width",
            "That gives every head its own D x D projections.",
            "The heads share the D features: each has D / H of them.",
            n_heads * 3 * (weights + biases) + weights + biases,
        ),
        Mistake(
            "heads_project_a_slice",
            "That gives every head Dh x Dh projections, of its own slice of a word.",
            "Every head sees the whole word: each of its Dh features weighs all D of them.",
            n_heads * 3 * (width**2 + width) + weights + biases,
        ),
        Mistake(
            "one_head_only",
            "That counts the projections of a single head.",
            "There are H heads of Dh features, and H Dh = D.",
            3 * (width * D_MODEL + width) + weights + biases,
        ),
        Mistake(
            "queries_keys_values_of_one_head",
            "That counts the projections of a single head, and no output projection.",
            "There are H heads of Dh features, and something mixes what they found.",
            3 * (width * D_MODEL + width),
        ),
    )


EXERCISES = by_id(
    *(
        Exercise(
            PROBES[f"predict_parameters_{n_heads}_heads"],
            lambda n_heads=n_heads: _count(n_heads),
            _count_mistakes(n_heads) + further,
            tolerance=1e-7,
        )
        for n_heads, further in ((8, ()), (16, BY_THE_HEADS))
    ),
)

"""What is right and what is commonly wrong in lesson 03."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.exercise import Exercise, Mistake
from utils.checks.multi_head_attention.answers_attention import ATTENTION
from utils.checks.multi_head_attention.answers_split import FUSE, REPAIR, SPLIT
from utils.checks.multi_head_attention.probes import PROBES

_PROBES = {probe.exercise: probe for probe in PROBES}
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
    """Parameters of torch's own attention, counted."""
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
            "every_head_at_full_width",
            "That gives every head its own D x D projections.",
            "The heads share the D features: each has D / H of them.",
            n_heads * 3 * (weights + biases) + weights + biases,
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


def load_oracle(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    """Load by name, as from a file."""
    theirs = torch_mha.state_dict()
    ours: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        if f"in_proj_{kind}" in theirs:
            parts = zip("qkv", theirs[f"in_proj_{kind}"].chunk(3), strict=True)
            ours |= {f"w_{letter}.{kind}": part for letter, part in parts}
            ours[f"w_o.{kind}"] = theirs[f"out_proj.{kind}"]
    mha.load_state_dict(ours)


def _load(
    order: str = "qkv",
    out: bool = True,
    biases: bool = True,
    change: Callable[[Tensor], Tensor] = torch.clone,
) -> Any:
    """A load_torch_attention with the given choices.

    Args:
        order: which of our layers get the three parts of torch's matrix.
        out: whether the output projection is loaded.
        biases: whether biases are loaded.
        change: what is done to each matrix and bias on the way.

    """

    def load(mha: Any, torch_mha: nn.MultiheadAttention) -> None:
        pairs = list(zip(order, torch_mha.in_proj_weight.chunk(3), strict=True))
        pairs += [("o", torch_mha.out_proj.weight)] if out else []
        for letter, matrix in pairs:
            getattr(mha, f"w_{letter}").weight.data = change(matrix.data)
        if biases and torch_mha.in_proj_bias is not None:
            _load_biases(mha, torch_mha, order if out else order[:3], out, change)

    return load


def _load_biases(
    mha: Any,
    torch_mha: nn.MultiheadAttention,
    order: str,
    out: bool,
    change: Callable[[Tensor], Tensor],
) -> None:
    pairs = list(zip(order, torch_mha.in_proj_bias.chunk(3), strict=True))
    pairs += [("o", torch_mha.out_proj.bias)] if out else []
    for letter, bias in pairs:
        getattr(mha, f"w_{letter}").bias.data = change(bias.data)


def _frozen(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    load_oracle(mha, torch_mha)
    mha.requires_grad_(False)


def _left_in_eval(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    load_oracle(mha, torch_mha)
    mha.eval()


def _other_way(mha: Any, torch_mha: nn.MultiheadAttention) -> None:
    matrices = [getattr(mha, f"w_{letter}").weight.data for letter in "qkv"]
    torch_mha.in_proj_weight.data = torch.cat(matrices)
    torch_mha.out_proj.weight.data = mha.w_o.weight.data.clone()


LOAD_MISTAKES = (
    Mistake(
        "wrong_order",
        "The three parts of in_proj_weight went to the wrong layers.",
        "torch puts the rows of the queries first, then the keys, then the values.",
        _load("kqv"),
    ),
    Mistake(
        "values_first",
        "The three parts of in_proj_weight went to the wrong layers.",
        "torch puts the rows of the queries first, then the keys, then the values.",
        _load("vkq"),
    ),
    Mistake(
        "transposed",
        "The matrices are transposed.",
        "in_proj_weight has one row for each output, exactly as nn.Linear keeps its weight.",
        _load(change=lambda x: x.T.clone() if x.ndim > 1 else x.clone()),
    ),
    Mistake(
        "output_projection_forgotten",
        "w_o was not loaded.",
        "torch calls it out_proj.",
        _load(out=False),
    ),
    Mistake(
        "biases_forgotten",
        "The weights are loaded, the biases are not.",
        "torch keeps in_proj_bias and out_proj.bias; both are None without bias.",
        _load(biases=False),
    ),
    Mistake(
        "memory_shared",
        "Both modules use the same memory: training one would change the other.",
        "Copy the numbers instead of handing over the tensors: `copy_`, or `clone()`.",
        _load(change=lambda x: x),
    ),
    Mistake(
        "frozen",
        "After loading, the parameters cannot be trained any more.",
        "Under torch.no_grad() a parameter can be written without freezing it.",
        _frozen,
    ),
    Mistake(
        "left_in_eval_mode",
        "After loading, mha is in another mode than before.",
        "Only numbers are copied: what is done to the mode, its caller decides.",
        _left_in_eval,
    ),
    Mistake(
        "other_way_round",
        "torch's module was overwritten with yours.",
        "The first argument is written, the second one read.",
        _other_way,
    ),
    Mistake(
        "nothing_loaded",
        "mha still has the weights that it was made with.",
        "`x = y` gives a name to a tensor; to write into a parameter use `copy_`.",
        lambda mha, torch_mha: None,
    ),
)

EXERCISES = (
    *SPLIT,
    ATTENTION,
    *(
        Exercise(
            _PROBES[f"predict_parameters_{n_heads}_heads"],
            lambda n_heads=n_heads: _count(n_heads),
            _count_mistakes(n_heads) + further,
            tolerance=1e-7,
        )
        for n_heads, further in ((8, ()), (16, BY_THE_HEADS))
    ),
    FUSE,
    Exercise(_PROBES["load_torch_attention"], load_oracle, LOAD_MISTAKES),
    REPAIR,
)

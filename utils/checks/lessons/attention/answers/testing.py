"""The student's own test of attention: a good test and what weak ones let pass."""

import torch
from torch import Tensor

from utils.checks.authoring.weak_tests import Finder, Told, weak_tests
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.lessons.attention.probes.versions import Attention
from utils.reference.attention.torch_attention import reference_attention


def _question(masked: bool) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, n, 4, generator=generator) for n in (3, 5, 5))
    mask = torch.arange(5) < torch.tensor([4, 3])[:, None, None]
    return q, k, v, mask if masked else None


def _agrees(attention: Attention, *, masked: bool) -> bool:
    ours, theirs = reference_attention(*_question(masked)), attention(*_question(masked))
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True))


def good_test(attention: Attention) -> None:
    """Compare with torch's kernel, with a mask and without."""
    assert _agrees(attention, masked=False)
    assert _agrees(attention, masked=True)


def _unscaled(attention: Attention) -> bool:
    wanted = reference_attention(*_question(False))[1]
    return not torch.allclose(attention(*_question(False))[1], wanted, atol=1e-5)


def _other_values(attention: Attention) -> bool:
    output, weights = attention(*_question(False))
    return not torch.allclose(output, weights @ _question(False)[2], atol=1e-5)


def _short_rows(attention: Attention) -> bool:
    return not torch.allclose(attention(*_question(True))[1].sum(-1), torch.ones(2, 3))


def _weight_on_blocked(attention: Attention) -> bool:
    weights, mask = attention(*_question(True))[1], _question(True)[3]
    return mask is not None and bool((weights * ~mask).any())


def _wants_no_scale(attention: Attention) -> None:
    q, k, v, _ = _question(False)
    wanted = reference_attention(q, k, v, scale=1.0)[1]
    assert torch.allclose(attention(q, k, v)[1], wanted, atol=1e-5)


def _wants_the_mask_inverted(attention: Attention) -> None:
    q, k, v, mask = _question(True)
    assert mask is not None
    wanted = reference_attention(q, k, v, ~mask)[0]
    assert torch.allclose(attention(q, k, v, mask)[0], wanted, atol=1e-5)


# What tells each broken version from all others, what it is called, and what would find it.
_FINDERS: dict[str, Finder] = {
    "scale": (
        _unscaled,
        "an attention without the scale",
        "Rows sum to one with the scale and without it: only the weights themselves tell. What are "
        "the two weights of one query and two keys, by hand?",
    ),
    "values": (
        _other_values,
        "an attention that mixes the keys instead of the values",
        "Assert something about the output, not about the weights alone, and give keys and values "
        "different numbers: with k = v nobody can tell them apart.",
    ),
    "late mask": (
        _short_rows,
        "a mask that comes only after softmax",
        "Mask out one key: what must the weights of the others sum to?",
    ),
    "inverted mask": (
        _weight_on_blocked,
        "an inverted mask",
        "Mask out one key: what must its weight be? Rows sum to one either way.",
    ),
}
_NAMES = {
    (): "finds_nothing",
    ("late mask",): "rows_only",
    ("scale", "values"): "no_mask_tried",
    ("scale", "late mask", "inverted mask"): "values_not_told_from_keys",
}


WEAK = weak_tests(
    _FINDERS,
    _NAMES,
    Told(
        nothing="All versions return the same shapes, so `assert` something about the numbers: "
        "what must a row of weights sum to, and what do one query and two keys give by hand?",
        everything="Your test rejects attentions that are right.",
        right="Try it on your own scaled_dot_product_attention and print both sides of each "
        "assert. Often a row of the mask that allows nothing is behind it (its weights are 0), a "
        "wrong axis or number in what is expected, or `==` where torch.allclose is needed.",
    ),
)
REJECTING = (
    Mistake(
        "wants_no_scale",
        "Your test rejects attentions that are right: it expects weights without the scale.",
        "Is the root of Dk missing where the expected weights are worked out?",
        _wants_no_scale,
    ),
    Mistake(
        "wants_the_mask_inverted",
        "Your test rejects attentions that are right, and accepts the one that inverts the mask.",
        "Either True and False are swapped in your test, or a row of its mask allows nothing: the "
        "weights of such a row are 0 and do not sum to one.",
        _wants_the_mask_inverted,
    ),
)
EXERCISES = by_id(Exercise(PROBES["test_attention"], good_test, (*WEAK, *REJECTING)))

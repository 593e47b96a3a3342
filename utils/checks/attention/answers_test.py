"""The student's own test of attention: what it must do, and what weak tests look like."""

import torch

from utils.checks.attention.probes import PROBES
from utils.checks.attention.reference import reference_attention
from utils.checks.attention.versions import Attention
from utils.checks.exercise import Exercise, Mistake

_PROBE = next(probe for probe in PROBES if probe.exercise == "test_attention")


def _question(masked: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, n, 4, generator=generator) for n in (3, 5, 5))
    mask = torch.arange(5) < torch.tensor([5, 3])[:, None, None]
    return q, k, v, mask if masked else None


def _agrees(attention: Attention, *, masked: bool) -> bool:
    ours, theirs = reference_attention(*_question(masked)), attention(*_question(masked))
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True))


def good_test(attention: Attention) -> None:
    """Compares with torch's kernel, with a mask and without."""
    assert _agrees(attention, masked=False)
    assert _agrees(attention, masked=True)


def _rows_only(attention: Attention) -> None:
    weights = attention(*_question(True))[1]
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3))


def _no_mask_tried(attention: Attention) -> None:
    assert _agrees(attention, masked=False)


def _weights_only(attention: Attention) -> None:
    for masked in (False, True):
        ours, theirs = reference_attention(*_question(masked)), attention(*_question(masked))
        assert torch.allclose(ours[1], theirs[1], atol=1e-5)


def _always_fails(attention: Attention) -> None:
    raise AssertionError


TEST_ATTENTION = Exercise(
    _PROBE,
    good_test,
    (
        Mistake(
            "finds_nothing",
            "Your test accepts every version, the broken ones too.",
            "All versions return the same shapes, so `assert` something about the numbers: what "
            "must a row of weights sum to, and what do one query and two keys give by hand?",
            lambda attention: None,
        ),
        Mistake(
            "rejects_everything",
            "Your test rejects attentions that are right.",
            "Try it on your own scaled_dot_product_attention first. Compare with "
            "torch.allclose: other right versions differ in the last digits.",
            _always_fails,
        ),
        Mistake(
            "rows_only",
            "Row sums find the mask that comes too late, and nothing else.",
            "A wrong scale or an inverted mask leaves the sums at one: check the weights "
            "themselves.",
            _rows_only,
        ),
        Mistake(
            "no_mask_tried",
            "Your test never passes a mask, so mistakes with masks stay unseen.",
            "Mask out one key, and assert what its weight and the others must be.",
            _no_mask_tried,
        ),
        Mistake(
            "values_not_told_from_keys",
            "Your test lets an attention pass that mixes the keys where it should mix the values.",
            "Assert something about the output, not about the weights alone, and give keys and "
            "values different numbers: with k = v nobody can tell them apart.",
            _weights_only,
        ),
    ),
)

"""Two faults at once: built from choices, or found by the result that each spoils."""

import math

import torch

from utils.checks import check
from utils.checks.framework.combining import both, by_choices


@by_choices
def counter(*, start=0, sign=1):
    return lambda n: sign * (start + n)


def test_two_variants_of_one_builder_are_built_together():
    made = both(counter(sign=-1), counter(start=3))
    assert [made(n) for n in range(3)] == [-3, -4, -5]


def test_two_variants_that_choose_alike_or_nothing_are_not_built_together():
    assert both(counter(start=3), counter(start=4)) is None
    assert both(counter(), counter(start=4)) is None
    assert both(lambda n: n, counter(start=4)) is None
    assert both(3.0, counter(start=4)) is None


def rotated_halves_backwards(x, base=10000.0):
    """Turn pairs (i, i + Dh/2), and the wrong way round."""
    half = x.shape[-1] // 2
    angles = [[p * base ** (-i / half) for i in range(half)] for p in range(x.shape[-2])]
    cos = x.new_tensor([[math.cos(a) for a in row] for row in angles])
    sin = x.new_tensor([[math.sin(a) for a in row] for row in angles])
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos + b * sin, b * cos - a * sin], -1)


def test_two_known_mistakes_at_once_are_both_named():
    verdict = check.rotary_embedding.verdict(rotated_halves_backwards)
    assert {verdict.mistake.name, verdict.second.name} == {"turned_the_other_way", "two_halves"}


def test_a_mistake_in_one_result_is_named_although_another_result_is_wrong_too():
    def answer(q, k, v, mask=None):
        scores = q @ k.mT  # not divided
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return (weights @ v).cos(), weights

    verdict = check.scaled_dot_product_attention.verdict(answer)
    assert verdict.mistake.name == "no_scaling"


def test_a_missed_demand_does_not_hide_the_cause():
    def answer(q, k, v, mask=None):
        scores = q @ k.mT  # not divided, and an empty row gives NaN
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        return weights @ v, weights

    assert check.scaled_dot_product_attention.verdict(answer).mistake.name == "no_scaling"


def test_two_mistakes_that_change_one_anothers_results_are_both_named():
    def rotary(x, base=10000.0):
        rates = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        angles = torch.arange(1, x.shape[-2] + 1)[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos + b * sin, b * cos - a * sin], -1).flatten(-2)

    verdict = check.rotary_embedding.verdict(rotary)
    named = {m.name for m in (verdict.mistake, verdict.second) if m is not None}
    assert named == {"counted_from_one", "turned_the_other_way"}

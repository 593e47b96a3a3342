"""Softmax with some things done differently: what its known mistakes are built from."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices

Change = Callable[[Tensor], Tensor]
AlongAxis = Callable[[Tensor, int], Tensor]


def highest(x: Tensor, dim: int) -> Tensor:
    """Return the largest score of each slice."""
    return x.amax(dim, keepdim=True)


def kept_sum(powers: Tensor, dim: int) -> Tensor:
    """Sum each slice and keep its axis."""
    return powers.sum(dim, keepdim=True)


def mean_of_finite(x: Tensor, dim: int) -> Tensor:
    """Return the mean of each slice's finite scores."""
    finite = x.isfinite()
    return x.masked_fill(~finite, 0.0).sum(dim, keepdim=True) / finite.sum(dim, keepdim=True)


def lowest_finite(x: Tensor, dim: int) -> Tensor:
    """Return the smallest finite score of each slice."""
    return x.masked_fill(x == -torch.inf, torch.inf).amin(dim, keepdim=True)


@by_choices
def build_softmax(
    *,
    before: Change = lambda x: x,
    shift: AlongAxis = highest,
    power: Change = torch.exp,
    above: Change | None = None,
    total: AlongAxis = kept_sum,
    guarded: bool = True,
    after: Change = lambda weights: weights,
    axis: int | None = None,
) -> Callable[..., Tensor]:
    """Build a softmax with some things done differently.

    Args:
        before: what is done to the scores first.
        shift: (scores, dim) -> what is taken from them.
        power: what stands in exp's place.
        above: what stands in exp's place above the line alone.
        total: (powers, dim) -> what they are divided by.
        guarded: whether slices with nothing allowed are kept from 0 / 0.
        after: what is done to the weights at the end.
        axis: the axis that is used, whatever dim says.

    """

    def softmax(x: Tensor, dim: int = -1) -> Tensor:
        dim = dim if axis is None else axis
        scores = before(x)
        top = shift(scores, dim)
        top = top.nan_to_num(0.0, neginf=0.0) if guarded else top
        powers = power(scores - top)
        sums = total(powers, dim)
        sums = sums + (sums == 0) if guarded else sums
        return after((powers if above is None else above(scores - top)) / sums)

    return softmax


def with_added(number: float) -> AlongAxis:
    """Build a sum to which a number is added."""
    return lambda powers, dim: kept_sum(powers, dim) + number


def pair_of_maxima(x: Tensor, dim: int) -> Any:
    """Return what `max` with a dim gives: values and indices."""
    return x.max(dim, keepdim=True)


def unshifted(x: Tensor, _dim: int) -> Tensor:
    """Return 0, which leaves all scores where they are."""
    return x.new_zeros(())


def sign_reversed(x: Tensor) -> Tensor:
    """Turn the scores' order, and leave what is not allowed."""
    return (-x).masked_fill(x == -torch.inf, -torch.inf)


def infinity_as_zero(x: Tensor) -> Tensor:
    """Put 0 in the place of minus infinity."""
    return x.masked_fill(x == -torch.inf, 0.0)


def largest_size(x: Tensor, dim: int) -> Tensor:
    """Return the largest absolute value of each slice, minus infinity among them."""
    return x.abs().amax(dim, keepdim=True)


def largest_finite_size(x: Tensor, dim: int) -> Tensor:
    """Return the largest absolute value of each slice's finite scores."""
    return largest_size(infinity_as_zero(x), dim)


def scaled_to_a_range(x: Tensor, dim: int) -> Tensor:
    """Bring each slice's finite scores into the range from 0 to 1."""
    low = lowest_finite(x, dim)
    return (x - low) / (highest(x, dim) - low)


def standardised(x: Tensor, dim: int) -> Tensor:
    """Bring each slice's scores to mean 0 and standard deviation 1."""
    return (x - x.mean(dim, keepdim=True)) / x.std(dim, keepdim=True)

"""The masked mean: right answers and common mistakes."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.start_here.probes import PROBES

Change = Callable[[Tensor], Tensor]
# (kept, length T) -> what the sum is divided by; kept is (B, T, 1)
Count = Callable[[Tensor, int], Tensor]


def mean_oracle(x: Tensor, mask: Tensor) -> Tensor:
    """Sum the true positions of each sequence by embedding_bag, then divide by their number."""
    rows = x.reshape(-1, x.shape[-1])
    kept = mask.flatten().nonzero().flatten()
    offsets = torch.cat([mask.sum(1).new_zeros(1), mask.sum(1).cumsum(0)])[:-1]
    return F.embedding_bag(kept, rows, offsets, mode="sum") / mask.sum(1, keepdim=True).clamp(min=1)


def _as_given(mask: Tensor) -> Tensor:
    return mask


def _everywhere(mask: Tensor) -> Tensor:
    return torch.ones_like(mask)


def _last_one(mask: Tensor) -> Tensor:
    return mask & (mask.cumsum(1) == mask.sum(1, keepdim=True))


def _mean_size(kept: Tensor, length: int) -> Tensor:
    return _sizes(kept, length).mean(0, keepdim=True)


def _first_ones(mask: Tensor) -> Tensor:
    return torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)


def _sizes(kept: Tensor, _length: int) -> Tensor:
    return kept.sum(1, keepdim=True)


@by_choices
def _mean(
    *,
    where: Change = _as_given,
    summed: Change = _as_given,
    counted: Change = _as_given,
    count: Count = _sizes,
    extra: float = 0,
    least: int = 1,
    axis: int = 1,
    batch: bool = False,
    result: Change = lambda mean: mean.squeeze(1),
) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a masked mean with some things done differently.

    Args:
        where: mask -> the positions that are averaged.
        summed: the same for the sum alone.
        counted: the same for the count alone.
        count: (kept, T) -> what the sum is divided by.
        extra: what is added to that.
        least: by no less than this.
        axis: the axis of x that is summed.
        batch: whether all sequences are summed together.
        result: what is made of the means, (B, 1, D).

    """

    def mean(x: Tensor, mask: Tensor) -> Tensor:
        above, below = (
            chosen(where(mask)).unsqueeze(-1).to(x.dtype) for chosen in (summed, counted)
        )
        total = (x * above).sum(axis, keepdim=True)
        total = total.sum(0, keepdim=True).expand_as(total) if batch else total
        below = below if axis == 1 else below.mT
        divisor = count(below, x.shape[axis]) + extra
        return result(total / (divisor.clamp(min=least) if least else divisor))

    return mean


def _over_depth(divisor: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a mean over D in place of T, (B, T), divided by what `divisor` gives."""
    return lambda x, mask: (x * mask[..., None]).sum(-1) / divisor(x, mask)


def _zeros_not_counted(x: Tensor, mask: Tensor) -> Tensor:
    kept = x * mask[..., None]
    return kept.sum(1) / (kept != 0).sum(1).clamp(min=1)


def _all_together(x: Tensor, mask: Tensor) -> Tensor:
    return x[mask].mean(0)


def _by_softmax_of_the_mask(x: Tensor, mask: Tensor) -> Tensor:
    weights = mask.to(x.dtype).softmax(1)
    return (x * weights[..., None]).sum(1)


def _cut_into_equal_parts(x: Tensor, mask: Tensor) -> Tensor:
    return x[mask].reshape(len(x), -1, x.shape[-1]).mean(1)


def _maximum(fill: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda x, mask: x.masked_fill(~mask[..., None], fill).amax(1)


_NO_LAST_AXIS = (
    "Sizes are matched from the last axis, so the mask's T meets x's D.",
    "x is (B, T, D). The mask, (B, T), needs an axis of size one at its end to line up with it.",
)

EXERCISES = by_id(
    Exercise(
        PROBES["masked_mean"],
        mean_oracle,
        (
            Mistake(
                "divides_by_length",
                "The sum is divided by the padded length, so padding pulls the mean towards zero.",
                "Divide by how many positions are true in each sequence.",
                _mean(count=lambda kept, length: torch.full_like(kept[:, :1], length)),
            ),
            Mistake(
                "padding_averaged_where_all_is_padding",
                "A sequence in which nothing is real gets the mean of its padding, where 0 is "
                "asked for.",
                "What should the weights of such a sequence be? (If yours come from a softmax: "
                "equal scores give equal weights, however low they are.)",
                _mean(where=lambda mask: mask | ~mask.any(1, keepdim=True)),
            ),
            Mistake(
                "mask_inverted",
                "The mean is taken over the padding.",
                "In this course True means a real position.",
                _mean(where=torch.logical_not),
            ),
            Mistake(
                "padding_summed",
                "The sum runs over the padding, in place of the real positions.",
                "In this course True means a real position, and `masked_fill` fills where True is.",
                _mean(summed=torch.logical_not),
            ),
            Mistake(
                "mask_ignored",
                "Padding is averaged in like real positions.",
                "The mask has to remove positions from the sum and from the count.",
                _mean(where=_everywhere),
            ),
            Mistake(
                "mask_ignored_in_the_sum",
                "The count leaves padding out, and the sum does not.",
                "The mask has to remove positions from the sum as well.",
                _mean(summed=_everywhere),
            ),
            Mistake(
                "divides_by_longest",
                "All sequences are divided by the count of the longest one.",
                "The count has to be one number per sequence: sum the mask along its time axis.",
                _mean(count=lambda kept, _: kept.sum(1, keepdim=True).amax(0, keepdim=True)),
            ),
            Mistake(
                "divides_by_the_whole_batch",
                "All sequences are divided by the number of true positions in the whole batch.",
                "The count has to be one number per sequence: sum the mask along its time axis.",
                _mean(count=lambda kept, _: kept.sum().view(1, 1, 1)),
            ),
            Mistake(
                "divides_by_the_batch_size",
                "The sum is divided by the number of sequences.",
                "Divide by how many positions are true in each sequence.",
                _mean(count=lambda kept, _: kept.new_full((1, 1, 1), len(kept))),
            ),
            Mistake(
                "one_added_to_the_count",
                "The count is one too large, in every sequence.",
                "Adding 1 avoids dividing by zero, but it changes every other mean too. Only a "
                "count of zero needs another value.",
                _mean(extra=1),
            ),
            *(
                Mistake(
                    f"epsilon_of_{epsilon:g}",
                    "A small number is added to every count, so every mean is a little too small.",
                    "Only a count of zero needs another value. Change that one and leave the "
                    "other counts as they are.",
                    _mean(extra=epsilon, least=0),
                )
                for epsilon in (1e-5, 1e-6)
            ),
            Mistake(
                "zeros_not_counted",
                "The entries of x that are not zero are counted, but a true position may hold a "
                "zero as well.",
                "The mask alone says what counts.",
                _zeros_not_counted,
            ),
            Mistake(
                "sum_only",
                "This is the sum over true positions, not yet the mean.",
                "Divide by the number of true positions.",
                _mean(count=lambda kept, _: kept.new_ones(1, 1, 1)),
            ),
            Mistake(
                "empty_is_nan",
                "A sequence without a true position divides zero by zero.",
                "Make sure that the count is at least one: the sum is zero anyway.",
                _mean(least=0),
            ),
            Mistake(
                "axis_kept",
                "The axis that was summed over is still there, with size one.",
                "The result is (B, D): keepdim=True keeps an axis, squeeze or an index drops it.",
                _mean(result=lambda mean: mean),
            ),
            Mistake(
                "last_true_position",
                "Only the last true position of each sequence comes back.",
                "All true positions count, each as much as the others.",
                _mean(where=_last_one),
            ),
            Mistake(
                "divided_by_the_mean_length",
                "All sequences are divided by the mean number of true positions.",
                "Count along T, so that each sequence keeps a count of its own.",
                _mean(count=_mean_size),
            ),
            Mistake(
                "first_positions",
                "The true positions are counted, and then that many positions from the start are "
                "averaged, wherever the true ones are.",
                "A mask may have holes: multiply by it, or select with it.",
                _mean(summed=_first_ones),
            ),
            Mistake(
                "sequences_summed_together",
                "The sum runs over all sequences, so every mean holds vectors of the other "
                "sequences too.",
                "Sum along the time axis alone.",
                _mean(batch=True),
            ),
            Mistake(
                "one_mean_for_the_batch",
                "The true positions of all sequences are averaged together.",
                "Each sequence has its own mean: x[mask] forgets which sequence a vector is from.",
                _all_together,
            ),
            Mistake(
                "one_mean_for_all_sequences",
                "The true positions of all sequences are averaged together, and every sequence "
                "gets that mean.",
                "Each sequence has its own mean: x[mask] forgets which sequence a vector is from.",
                lambda x, mask: _all_together(x, mask).expand(len(x), -1),
            ),
            Mistake(
                "cut_into_equal_parts",
                "Selecting with the mask puts the real vectors of all sequences into one list, "
                "and cutting that list into equal parts works only if all sequences have the same "
                "number of them.",
                "You can remove padding from a sum without selecting: which number adds nothing?",
                _cut_into_equal_parts,
            ),
            Mistake(
                "softmax_of_the_mask",
                "The weights are a softmax of the mask, and exp(0) is 1: padding still gets "
                "weight.",
                "In a mean, padding has weight 0 and all real positions have the same weight.",
                _by_softmax_of_the_mask,
            ),
            Mistake(
                "mask_without_an_axis_for_the_depth",
                *_NO_LAST_AXIS,
                lambda x, mask: (x * mask).sum(1) / mask.sum(1, keepdim=True),
            ),
            Mistake(
                "count_without_an_axis_for_the_depth",
                "The sums are (B, D) and the counts (B,): sizes are matched from the last axis, so "
                "the counts' B meets D.",
                "The counts need a last axis, of size one, to line up with the sums: keepdim=True "
                "keeps the axis that a sum runs over.",
                lambda x, mask: (x * mask[..., None]).sum(1) / mask.sum(1),
            ),
            Mistake(
                "over_the_depth",
                "The sum runs over D, not over the positions.",
                "Which axis of (B, T, D) counts the positions?",
                _over_depth(lambda x, _: x.new_ones(1)),
            ),
            Mistake(
                "over_the_depth_by_the_count",
                "The sum runs over D, not over the positions.",
                "Which axis of (B, T, D) counts the positions?",
                _over_depth(lambda _, mask: mask.sum(1, keepdim=True).clamp(min=1)),
            ),
            Mistake(
                "mean_over_the_depth",
                "The mean is taken over D, not over the positions.",
                "Which axis of (B, T, D) counts the positions?",
                _over_depth(lambda x, _: x.new_tensor(x.shape[-1])),
            ),
            Mistake(
                "maximum",
                "This is the largest true entry, not the mean.",
                "Sum and count instead.",
                _maximum(-torch.inf),
            ),
            Mistake(
                "maximum_with_zeros",
                "This is the largest entry, not the mean, and padding counts as 0 in it.",
                "Sum and count instead.",
                _maximum(0.0),
            ),
        ),
    ),
)

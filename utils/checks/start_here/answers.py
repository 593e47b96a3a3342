"""What is right and what is commonly wrong in lesson 00."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake
from utils.checks.observation import Observation
from utils.checks.start_here.probes import PROBES

_SOFTMAX, _MEAN, _DOT = PROBES
# Taken now: while an answer is observed these names are absent from torch.
_torch_softmax, _torch_log_softmax = torch.softmax, torch.log_softmax


def softmax_oracle(x: Tensor, dim: int = -1) -> Tensor:
    """Torch's softmax, with 0 where a whole slice is minus infinity."""
    blocked = (x == -torch.inf).all(dim, keepdim=True)
    return _torch_softmax(x.masked_fill(blocked, 0.0), dim).masked_fill(blocked, 0.0)


def _softmax_unshifted(x: Tensor, dim: int = -1) -> Tensor:
    return x.exp() / x.exp().sum(dim, keepdim=True)


def _softmax_unshifted_but_safe(x: Tensor, dim: int = -1) -> Tensor:
    total = x.exp().sum(dim, keepdim=True)
    return x.exp() / total.masked_fill(total == 0, 1.0)


def _softmax_over_everything(x: Tensor, dim: int = -1) -> Tensor:
    del dim
    return _torch_softmax(x.flatten(), 0).view_as(x)


def _softmax_sum_not_kept(x: Tensor, dim: int = -1) -> Tensor:
    shifted = (x - x.amax(dim, keepdim=True)).exp()
    return shifted / shifted.sum(dim)


def _softmax_blocked_row_uniform(x: Tensor, dim: int = -1) -> Tensor:
    return _torch_softmax(x.clamp(min=torch.finfo(x.dtype).min), dim)


def mean_oracle(x: Tensor, mask: Tensor) -> Tensor:
    """One nn.EmbeddingBag over all true positions per sequence: torch's own segmented mean."""
    rows = x.reshape(-1, x.shape[-1])
    kept = mask.flatten().nonzero().flatten()
    offsets = torch.cat([mask.sum(1).new_zeros(1), mask.sum(1).cumsum(0)])[:-1]
    return F.embedding_bag(kept, rows, offsets, mode="sum") / mask.sum(1, keepdim=True).clamp(min=1)


def _mean_over_all(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask[..., None]).mean(1)


def _mean_unguarded(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def _mean_over_longest(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask[..., None]).sum(1) / mask.sum(1).max()


def dot_oracle(a: Tensor, b: Tensor) -> Tensor:
    """Torch's bilinear form with the identity, batch entry by batch entry."""
    identity = torch.eye(a.shape[-1], dtype=a.dtype)[None]
    pairs = [
        F.bilinear(left[:, None].repeat(1, len(right), 1), right.repeat(len(left), 1, 1), identity)
        for left, right in zip(a, b, strict=True)
    ]
    return torch.stack(pairs).squeeze(-1)


def _sums_to_one(inputs: Inputs, seen: Observation) -> bool:
    expected = softmax_oracle(inputs["x"], inputs["dim"]).sum(inputs["dim"])
    sums = torch.as_tensor(seen.values["probabilities"]).sum(inputs["dim"])
    return torch.allclose(sums, expected, atol=1e-4)


_OVERFLOW = (
    "exp of a large number overflows to infinity, and infinity divided by infinity is NaN.",
    "Softmax does not change when the same number is taken from every entry of a slice. Which "
    "number makes the largest exponent zero?",
)

EXERCISES = (
    Exercise(
        _SOFTMAX,
        softmax_oracle,
        (
            Mistake("no_shift", *_OVERFLOW, _softmax_unshifted),
            Mistake("no_shift_blocked_rows_right", *_OVERFLOW, _softmax_unshifted_but_safe),
            Mistake(
                "shift_by_global_maximum",
                "The shift is one number for the whole tensor, so slices far below it vanish.",
                "The maximum has to be taken per slice, along `dim`, keeping that axis.",
                lambda x, dim=-1: _softmax_unshifted(x - x.max(), dim),
            ),
            Mistake(
                "wrong_axis",
                "The last axis is normalised whatever `dim` says.",
                "Pass `dim` on to both the maximum and the sum.",
                lambda x, _dim=-1: softmax_oracle(x, -1),
            ),
            Mistake(
                "normalised_over_everything",
                "All entries together sum to one, not each slice.",
                "The sum has to run along `dim` alone, with keepdim=True.",
                _softmax_over_everything,
            ),
            Mistake(
                "sum_axis_not_kept",
                "The sums lost their axis, so they are divided out along the wrong one.",
                "sum(dim, keepdim=True) keeps a size-1 axis that broadcasts back.",
                _softmax_sum_not_kept,
            ),
            Mistake(
                "blocked_row_is_nan",
                "A slice of minus infinity alone gives NaN: minus infinity minus minus infinity "
                "has no value, and 0 / 0 has none either.",
                "Where the maximum is minus infinity, shift by 0 instead; where the sum is 0, "
                "divide by 1.",
                lambda x, dim=-1: _torch_softmax(x, dim),
            ),
            Mistake(
                "blocked_row_is_uniform",
                "A slice with nothing allowed still spreads its probability evenly.",
                "A large negative number is not minus infinity: with all entries alike, softmax "
                "gives each the same share. Set those slices to 0.",
                _softmax_blocked_row_uniform,
            ),
            Mistake(
                "no_exponential",
                "The entries are divided by their sum without going through exp.",
                "Softmax is exp(x) over the sum of exp(x).",
                lambda x, dim=-1: x / x.sum(dim, keepdim=True),
            ),
            Mistake(
                "log_softmax",
                "These are logarithms of probabilities.",
                "Divide exponentials; there is no log at the end.",
                lambda x, dim=-1: _torch_log_softmax(x, dim),
            ),
        ),
        (Invariant("Each slice must sum to one (to zero where all is blocked).", _sums_to_one),),
    ),
    Exercise(
        _MEAN,
        mean_oracle,
        (
            Mistake(
                "divides_by_length",
                "The sum is divided by the padded length, so padding pulls the mean towards zero.",
                "Divide by how many positions are true in each sequence.",
                _mean_over_all,
            ),
            Mistake(
                "mask_ignored",
                "Padding is averaged in like real positions.",
                "The mask has to remove positions from the sum and from the count.",
                lambda x, mask: x.mean(1),
            ),
            Mistake(
                "mask_inverted",
                "The mean is taken over the padding.",
                "In this course True means a real position.",
                lambda x, mask: mean_oracle(x, ~mask),
            ),
            Mistake(
                "empty_is_nan",
                "A sequence without a true position divides zero by zero.",
                "Make sure that the count is at least one: the sum is zero anyway.",
                _mean_unguarded,
            ),
            Mistake(
                "divides_by_longest",
                "All sequences are divided by the count of the longest one.",
                "The count has to be one number per sequence: sum the mask along its time axis.",
                _mean_over_longest,
            ),
            Mistake(
                "sum_only",
                "This is the sum over true positions, not yet the mean.",
                "Divide by the number of true positions.",
                lambda x, mask: (x * mask[..., None]).sum(1),
            ),
            Mistake(
                "maximum",
                "This is the largest true entry, not the mean.",
                "Sum and count instead.",
                lambda x, mask: x.masked_fill(~mask[..., None], -torch.inf).amax(1),
            ),
        ),
    ),
    Exercise(
        _DOT,
        dot_oracle,
        (
            Mistake(
                "transposed",
                "Rows and columns are swapped: entry [t, s] holds the product of b's t and a's s.",
                "The rows of the result belong to `a`. Which of the two needs its last axes "
                "swapped?",
                lambda a, b: dot_oracle(b, a),
            ),
            Mistake(
                "no_transpose",
                "The matrices do not fit: both have D last.",
                "A matrix product sums over the last axis of the left and the last but one of the "
                "right. Swap the last two axes of `b` (not all axes: .T reverses the batch too).",
                lambda a, b: a @ b,
            ),
            Mistake(
                "mean_over_depth",
                "The products are averaged over D, not summed.",
                "A dot product is a sum.",
                lambda a, b: dot_oracle(a, b) / a.shape[-1],
            ),
            Mistake(
                "cosine",
                "These are cosines: the vectors were made unit length first.",
                "Leave the lengths as they are.",
                lambda a, b: nn.CosineSimilarity(-1)(a[:, :, None], b[:, None]),
            ),
            Mistake(
                "batch_mixed",
                "The batch is summed over: every sequence sees all the others.",
                "The batch axis has to stay: `@` and einsum can both keep it.",
                lambda a, b: dot_oracle(a, b).sum(0, keepdim=True).expand(len(a), -1, -1),
            ),
            Mistake(
                "squared_distance",
                "These are squared distances, not products.",
                "Multiply entry by entry and sum over D.",
                lambda a, b: torch.cdist(a, b) ** 2,
            ),
        ),
    ),
)

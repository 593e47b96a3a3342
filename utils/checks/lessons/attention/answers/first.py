"""The prediction and the weighted sum: right answers, and mistakes in predicting."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, Inputs, Invariant, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.observation import Observation
from utils.reference.attention.torch_attention import reference_attention


def _measured_spread() -> float:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 100_000, 64, generator=generator)
    return float((q * k).sum(-1).std())


def attend_oracle(
    scores: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with torch's kernel to S keys whose products with the query are the scores."""
    keys = scores[..., None]
    query = scores.new_ones(len(scores), 1, 1)
    allowed = None if mask is None else mask[:, None]
    context, weights = reference_attention(query, keys, values, allowed, scale=1.0)
    return context[:, 0], weights[:, 0]


def rows_sum_to_one(inputs: Inputs, seen: Observation) -> bool:
    """Check that each row of weights sums to one, or to zero where nothing is allowed."""
    weights = torch.as_tensor(seen.values["weights"])
    mask = inputs.get("mask")
    wanted = torch.ones(weights.shape[:-1]) if mask is None else mask.any(-1).float()
    return torch.allclose(weights.sum(-1).float(), wanted.expand(weights.shape[:-1]), atol=1e-4)


def blocked_keys_weigh_nothing(inputs: Inputs, seen: Observation) -> bool:
    """Check that keys under the mask have no weight at all."""
    mask = inputs.get("mask")
    weights = torch.as_tensor(seen.values["weights"])
    return mask is None or not (weights * ~mask).any()


LAWS = (
    Invariant(
        "Each row of weights must sum to one (zero where nothing is allowed).", rows_sum_to_one
    ),
    Invariant("A key under the mask must have weight zero.", blocked_keys_weigh_nothing),
)

_OF_A_PRODUCT = "Var(ab) = Var(a) Var(b) for independent entries with mean zero."

EXERCISES = by_id(
    Exercise(
        PROBES["predict_score_spread"],
        _measured_spread,
        (
            Mistake(
                "variance",
                "That is the variance. The standard deviation is its square root.",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                64,
            ),
            Mistake(
                "stays_one",
                "Each single product has a standard deviation of 1, but 64 of them are added.",
                "When independent terms are added, what adds up: deviations or variances?",
                1,
            ),
            Mistake(
                "inverse",
                "That is the factor that repairs the spread, not the spread.",
                "Adding more terms makes the sum vary more.",
                0.125,
            ),
            Mistake(
                "number_squared",
                "That is 64 squared. The spread grows more slowly than the number of products.",
                "Each of the 64 products has variance 1, and variances of independent terms add. "
                "How does a deviation come from a variance?",
                64**2,
            ),
            Mistake(
                "both_variances_added",
                "That would be the spread of a sum of 128 numbers. Here 64 products are added, "
                "and a product of two unit normals has variance one, not two.",
                _OF_A_PRODUCT,
                128**0.5,
            ),
            Mistake(
                "variance_of_both",
                "128 is the variance of a sum of 128 numbers. Here 64 products are added, and a "
                "deviation is the root of a variance.",
                _OF_A_PRODUCT,
                128,
            ),
            Mistake(
                "mean",
                "0 is the mean: scores above it are as likely as scores below. How far from it are "
                "they, typically?",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                0,
            ),
            Mistake(
                "mean_size",
                "That is the mean size of the score, without its sign. A standard deviation is the "
                "root of the mean square.",
                "Each of the 64 products has variance 1, and variances of independent terms add.",
                8 * (2 / torch.pi) ** 0.5,
            ),
            Mistake(
                "root_taken_twice",
                "The root is taken twice.",
                "Each of the 64 products has variance 1, so the variance is 64 times that: which "
                "root of it is the deviation?",
                64**0.25,
            ),
            Mistake(
                "variance_of_the_mean",
                "That is the variance of a mean of 64 numbers. A score is their sum, and its "
                "spread is a root.",
                "Adding more terms makes the sum vary more.",
                1 / 64,
            ),
        ),
        tolerance=0.03,
    ),
    Exercise(PROBES["attend"], attend_oracle, invariants=LAWS),
)

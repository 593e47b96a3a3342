"""Two predictions, of a loss and an accuracy: right answers and common mistakes."""

from collections.abc import Callable

import torch
from torch.nn import functional as F

from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES

N_TAGS = 64  # in the prediction


def _first_loss() -> float:
    return F.cross_entropy(torch.zeros(1, N_TAGS), torch.tensor([5])).item()


def _padded_share() -> float:
    """Average hits over 1,000 positions: 600 of padding, all right, and 400 words, 83% right."""
    hits = torch.tensor([True] * 600 + ([True] * 83 + [False] * 17) * 4)
    return hits.double().mean().item()


def _prediction(
    name: str, answer: Callable[[], float], tolerance: float, *mistakes: Mistake
) -> Exercise:
    return Exercise(PROBES[name], answer, mistakes, tolerance=tolerance)


FIRST_LOSS = _prediction(
    "predict_first_loss",
    _first_loss,
    0.01,
    Mistake(
        "in_bits",
        "That is the logarithm to base 2, in bits. torch counts in nats.",
        "Which logarithm is the inverse of exp?",
        6,
    ),
    Mistake(
        "base_ten",
        "That is the logarithm to base 10.",
        "Which logarithm is the inverse of exp?",
        1.806,
    ),
    Mistake(
        "probability",
        "That is the probability of the right tag, not the loss.",
        "The loss is minus the logarithm of it.",
        1 / 64,
    ),
    Mistake(
        "sign_missing",
        "The sign is wrong: no probability is above 1, so no loss is below 0.",
        "The loss is minus the logarithm of the probability.",
        -4.159,
    ),
    Mistake(
        "number_of_tags",
        "That is how many tags there are. The loss grows far more slowly than that.",
        "What probability has each tag, and what is minus its logarithm?",
        64,
    ),
)

PADDED_ACCURACY = _prediction(
    "predict_padded_accuracy",
    _padded_share,
    0.005,
    Mistake(
        "unchanged",
        "That is the share among real words; padding would have to count for nothing.",
        "Take 100 positions: how many are padding, how many are words, how many are right?",
        0.83,
    ),
    Mistake(
        "padding_as_wrong",
        "Here the padding was counted as wrong. This model has it right, everywhere.",
        "Take 100 positions: how many are padding, how many are words, how many are right?",
        0.332,
    ),
    Mistake(
        "shares_swapped",
        "Here 40% were taken for padding.",
        "60 of 100 positions are padding.",
        0.898,
    ),
    Mistake(
        "share_of_the_padding",
        "Here 83% of the padding is counted, and nothing else.",
        "The 83% are of the words, 40 of 100 positions; of the other 60 all are right.",
        0.498,
    ),
    Mistake(
        "plain_average",
        "Words and padding were averaged as if there were as much of the one as of the other.",
        "60 of 100 positions are padding.",
        0.915,
    ),
    Mistake(
        "in_percent",
        "The number is right, but it is in percent.",
        "A share lies between 0 and 1.",
        93.2,
    ),
)

EXERCISES = by_id(FIRST_LOSS, PADDED_ACCURACY)

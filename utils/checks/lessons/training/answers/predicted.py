"""Two predictions, of a loss and an accuracy: right answers and common mistakes."""

import math
from collections.abc import Callable

import torch
from torch.nn import functional as F

from utils.checks.exercise import Exercise, Mistake, by_id
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
        "What probability does each tag get, and what is minus its logarithm?",
        64,
    ),
    Mistake(
        "share_of_errors",
        "That is how often a guess is wrong, 63 times in 64. The loss is not a share of errors.",
        "The loss looks at one number: the probability that the right tag gets.",
        63 / 64,
    ),
    Mistake(
        "probability_of_the_wrong_tags",
        "That is minus the logarithm of 63/64, what the wrong tags get together.",
        "The loss looks at the probability that the right tag gets.",
        -math.log(63 / 64),
    ),
    Mistake(
        "summed_over_tags",
        "That is the sum over all 64 tags. A word has one right tag, and the loss looks only at "
        "that one.",
        "One probability, one logarithm.",
        N_TAGS * math.log(N_TAGS),
    ),
    Mistake(
        "weighted_for_one_tag",
        "That is -p ln p of one tag, a term of an entropy. The loss does not multiply by p.",
        "The right tag is known: its logarithm counts in full.",
        math.log(N_TAGS) / N_TAGS,
    ),
    Mistake(
        "even_chance",
        "That is ln 2, the loss where two things are equally likely. Here 64 are.",
        "What probability does each of 64 equally likely tags get?",
        math.log(2),
    ),
)

PADDED_ACCURACY = _prediction(
    "predict_padded_accuracy",
    _padded_share,
    0.005,
    Mistake(
        "unchanged",
        "That is the share among real words. It would be right if padding did not count.",
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
        "Here 40% of the positions are counted as padding.",
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
        "Words and padding were averaged as if there were equally many of both.",
        "60 of 100 positions are padding.",
        0.915,
    ),
    Mistake(
        "in_percent",
        "The number is right, but it is in percent.",
        "A share lies between 0 and 1.",
        93.2,
    ),
    Mistake(
        "shares_added",
        "Two shares of different things were added, and that is more than 1: the 83% are of the "
        "words alone.",
        "Take 100 positions: how many are words, and how many of these are right?",
        1.43,
    ),
    Mistake(
        "share_of_errors",
        "That is what is wrong: 17% of the words, as a share of all positions.",
        "The question is what share is right.",
        0.068,
    ),
    Mistake(
        "padding_alone",
        "That is the padding alone. Some of the words are right, too.",
        "Take 100 positions: how many are words, and how many of these are right?",
        0.6,
    ),
)

EXERCISES = by_id(FIRST_LOSS, PADDED_ACCURACY)

"""The learning rate: the right answer."""

import math

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.training.probes import PROBES


def rate_oracle(step: int, d_model: int, warmup: int) -> float:
    """Compute the rate from logarithms.

    Raises:
        ValueError: step is 0, which has no logarithm.

    """
    falling, rising = -math.log(step) / 2, math.log(step) - 1.5 * math.log(warmup)
    return math.exp(min(falling, rising) - math.log(d_model) / 2)


EXERCISES = by_id(Exercise(PROBES["noam_rate"], rate_oracle))

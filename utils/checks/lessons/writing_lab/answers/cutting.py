"""Windows of a text: an independent right answer."""

from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.writing_lab.probes import PROBES


def next_tokens_oracle(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Let torch unfold the text into windows of one id more, each a length behind the last."""
    if len(ids) <= length:
        raise ValueError("the text is too short for a window")
    windows = ids.unfold(0, length + 1, length)
    return windows[:, :length], windows[:, 1:]


EXERCISES = by_id(Exercise(PROBES["next_tokens"], next_tokens_oracle))

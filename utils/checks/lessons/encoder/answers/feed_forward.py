"""The feed-forward network: right answers, and the mistakes that no patch of its body says."""

from utils.checks.authoring.common_mistakes import (
    dropout_by_default,
    keep_module,
    no_forward,
    no_set_up,
)
from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules


class _DropoutByDefault(modules.FeedForward):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__(d_model, d_ff, dropout)


EXERCISES = by_id(
    Exercise(
        PROBES["FeedForward"],
        modules.FeedForward,
        (
            no_forward("FeedForward", modules.FeedForward),
            no_set_up("FeedForward", keep_module),
            dropout_by_default(_DropoutByDefault),
        ),
    ),
)

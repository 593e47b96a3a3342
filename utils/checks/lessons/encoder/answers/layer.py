"""The encoder layer: right answers, and the mistakes that no patch of its body says."""

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchLayer
from utils.reference import modules

_DEFAULTS = "Look at the defaults in the first line of __init__."


class _PreNormByDefault(modules.EncoderLayer):
    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = True,
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)


class _NoDropoutByDefault(modules.EncoderLayer):
    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)


EXERCISES = by_id(
    Exercise(
        PROBES["EncoderLayer"],
        TorchLayer,
        (
            Mistake(
                "pre_norm_by_default",
                "Where norm_first is not given, the layer normalises first.",
                _DEFAULTS,
                _PreNormByDefault,
            ),
            Mistake(
                "no_dropout_by_default",
                "Where dropout is not given, the rate is not 0.1.",
                _DEFAULTS,
                _NoDropoutByDefault,
            ),
            no_set_up("EncoderLayer", keep_module),
            no_forward("EncoderLayer", modules.EncoderLayer),
        ),
    ),
)

"""The whole encoder: right answers, and the mistakes that no patch of its body says."""

import inspect
from typing import Any

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchStack
from utils.reference import modules

_DEFAULTS = "Look at the defaults in the first line of __init__."
_ARGUMENTS = inspect.signature(modules.TransformerEncoder)


def _with_default(name: str, value: Any) -> type[modules.TransformerEncoder]:
    """Return the encoder with another default for one argument."""

    class TransformerEncoder(modules.TransformerEncoder):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            given = _ARGUMENTS.bind(*arguments, **named)
            given.arguments.setdefault(name, value)
            super().__init__(*given.args, **given.kwargs)

    return TransformerEncoder


EXERCISES = by_id(
    Exercise(
        PROBES["TransformerEncoder"],
        TorchStack,
        (
            no_forward("TransformerEncoder", modules.TransformerEncoder),
            no_set_up("TransformerEncoder", keep_module),
            Mistake(
                "pre_norm_by_default",
                "Where norm_first is not given, the encoder is pre-norm.",
                _DEFAULTS,
                _with_default("norm_first", True),
            ),
            Mistake(
                "no_dropout_by_default",
                "Where dropout is not given, the rate is not 0.1.",
                _DEFAULTS,
                _with_default("dropout", 0.0),
            ),
        ),
    ),
)

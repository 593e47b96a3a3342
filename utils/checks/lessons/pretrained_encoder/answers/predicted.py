"""The predictions of lesson 07: right answers and common misreadings."""

from collections.abc import Callable

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.pretrained_encoder.probes import PROBES
from utils.checks.lessons.pretrained_encoder.probes.predicted import BEST_LAYER


@by_choices
def _named(
    *,
    a: str = "segment row missing",
    b: str = "padding in the mean",
    c: str = "first layer in all layers",
) -> Callable[[], dict[str, str]]:
    """Build a reading of the three encoders' figures."""
    return lambda: {"A": a, "B": b, "C": c}


_MASK = (
    "Without the mask the states of a padded sentence go wrong in the first layer, and no sooner."
)
_RELU = "With ReLU in the place of GELU state 1 is wrong, and state 0 is right."
_ROW = "Without the segment row state 0 is wrong already: it is added before all layers."
_MEAN = "Padding in the mean changes no state, only the sentence's vector."
_FIRST = "With the first layer's weights everywhere, states 0 and 1 are right."
_LOOK = {
    "a": "Which fault can show before the first layer?",
    "b": "All states of B are right. What comes after them?",
    "c": "The first layer of C is right. Which fault spares it?",
}
_OTHERS = {
    "mask forgotten": _MASK,
    "relu left in": _RELU,
    "segment row missing": _ROW,
    "padding in the mean": _MEAN,
    "first layer in all layers": _FIRST,
}
_RIGHT = {
    "a": "segment row missing",
    "b": "padding in the mean",
    "c": "first layer in all layers",
}


def _misreadings() -> tuple[Mistake, ...]:
    """Return a mistake for each wrong name at each letter."""
    return tuple(
        Mistake(
            f"{letter}_taken_for_{fault.replace(' ', '_')}",
            message,
            _LOOK[letter],
            _named(**{letter: fault}),
        )
        for letter, right in _RIGHT.items()
        for fault, message in _OTHERS.items()
        if fault != right
    )


EXERCISES = by_id(
    Exercise(PROBES["predict_fault_of_encoder"], _named(), _misreadings()),
    Exercise(
        PROBES["predict_best_layer"],
        lambda: BEST_LAYER,
        (
            Mistake(
                "last_layer",
                "That is the last layer, which everybody names. It is the worst of all seven.",
                "What was this model trained to tell apart: words by their class, or sentences?",
                6,
            ),
            Mistake(
                "no_layer",
                "That is what comes out of `embed`: a word and its position alone.",
                "Is *can* a noun or a verb? What tells you?",
                0,
            ),
            *(
                Mistake(
                    f"after_layer_{n}",
                    f"There are better ones, earlier than layer {n}.",
                    "A linear layer reads word classes less and less easily towards the end.",
                    n,
                )
                for n in (4, 5)
            ),
        ),
    ),
)

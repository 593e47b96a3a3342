"""Explain a result that is far larger than the right one by that alone: no cause is sought."""

from utils.checks.compare.amount import is_far_more, of_amount
from utils.checks.explain import general
from utils.checks.explain.situation import Explanation, Situation
from utils.checks.observe.expected import expected_of


def explain(situation: Situation) -> Explanation | None:
    """Say how much came back, if that is far more than was asked for."""
    shown = situation.shown
    right = expected_of(situation.exercise, shown.result.case)
    if shown.seen is None or not is_far_more(right, shown.seen):
        return None
    if (known := general.explain(situation)) is not None:
        return known
    says = of_amount(right, shown.seen)
    return Explanation(symptoms=(says,) if says else ())

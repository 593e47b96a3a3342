"""One list of explainers: each looks at a wrong answer and says what is wrong, or nothing."""

from typing import Final

from utils.checks.explain import (
    bank,
    errors,
    general,
    in_part,
    kept_state,
    other_form,
    pairs,
    steps,
    symptoms,
    too_much,
)
from utils.checks.explain.situation import Explainer, Explanation, Situation

EXPLAINERS: Final[tuple[Explainer, ...]] = (
    kept_state.explain,
    too_much.explain,
    bank.explain,
    in_part.explain,
    pairs.explain,
    other_form.explain,
    general.explain,
    steps.explain,
    errors.explain,
    symptoms.explain,
)


def explain(situation: Situation) -> Explanation:
    """Return the first explanation that is found."""
    found = (explainer(situation) for explainer in EXPLAINERS)
    return next((one for one in found if one is not None), Explanation())

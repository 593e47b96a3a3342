"""Find out whether an answer is wrong only because it keeps something of an earlier call.

A case that fails is asked once more with that put back, so that it comes first: if it is right now,
an earlier call was in the way.
"""

from utils.checks.case_results import judge_case
from utils.checks.explain.general import REMEMBERS
from utils.checks.explain.situation import Explanation, Situation
from utils.checks.observe.expected import with_facts

_ASKED = 4  # times: an answer that is random may be right once by chance


def explain(situation: Situation) -> Explanation | None:
    """Explain that an answer remembers, if the case shown is right when it is asked first."""
    exercise, case, own = situation.exercise, situation.shown.result.case, situation.own
    if own is None or case.hidden:
        return None
    for _ in range(_ASKED):
        own.forget()
        seen = with_facts(exercise, case, own.observe(exercise.probe, case))
        if judge_case(exercise, case, seen) is not None:
            return None
    return Explanation(REMEMBERS)

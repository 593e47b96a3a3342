"""What is known of a wrong answer, and what an explainer makes of it: plain data."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from utils.checks.exercise import Exercise, Mistake
from utils.checks.explain.asked.own_object import OwnObject
from utils.checks.explain.known.agreeing import Judged


@dataclass(frozen=True)
class Situation:
    """An answer that failed a case.

    Attributes:
        exercise: probe, oracle and known mistakes.
        judged: all cases with what was observed, None where that is far more than was asked for.
        shown: the failing case that the student reads about.
        telling: the failing case whose result has a number to tell what went wrong, if one has.
        reasons: why a student's test never fails, as its code shows.
        own: the student's own object, to be asked again; None in grading.

    """

    exercise: Exercise
    judged: Sequence[Judged]
    shown: Judged
    telling: Judged | None
    reasons: Collection[str] = ()
    own: OwnObject | None = None


@dataclass(frozen=True)
class Explanation:
    """What is said of an answer.

    Attributes:
        mistake: the cause, if it is known.
        second: a second cause, if only both together explain the answer.
        symptoms: true sentences that narrow a fault down, if its cause is not known.

    """

    mistake: Mistake | None = None
    second: Mistake | None = None
    symptoms: tuple[str, ...] = ()


Explainer: TypeAlias = Callable[[Situation], Explanation | None]


def by(mistake: Mistake | None) -> Explanation | None:
    """Explain by one cause, if there is one."""
    return None if mistake is None else Explanation(mistake)

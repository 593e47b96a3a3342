"""A submission that was graded, on its way to the records."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.authoring.lesson import Lesson
from grader.judging.outcome import Outcome


@dataclass(frozen=True)
class Graded:
    """A submission and its outcome.

    Attributes:
        timestamp: when it was submitted, as nbgrader writes it; "" if that is not known.
        secret: nbgrader's, by which the student fetches feedback; "" if there is none.
        judged_by: exercise -> fingerprint of what judged it.

    """

    student: str
    lesson: Lesson
    data: bytes
    outcome: Outcome
    timestamp: str
    secret: str = ""
    judged_by: Mapping[str, str] = field(default_factory=dict)

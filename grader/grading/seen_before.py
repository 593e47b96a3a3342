"""What many submissions send to the last byte is read and judged once.

Judging depends on nothing but what was seen, what was asked, and the names in a submission's code.
In a class most answers to an exercise give the same numbers.
"""

import itertools
import sys
from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from grader.notebook_limits import parts_of
from grader.workers.protocol import WireError, decode
from utils.checks.framework.observation import Observation
from utils.checks.framework.verdict import Verdict

MOST_BYTES: Final = 8 << 20  # of messages that are kept: twenty submissions that have none alike
PART_BYTES: Final = 100  # of memory that a small value takes, however short it was in its message
MOST_VERDICT_BYTES: Final = 8 << 20  # a thousand verdicts
RESULT_BYTES: Final = 400  # of memory that a case's result takes, without what it shows


class Seen(NamedTuple):
    """An observation.

    Attributes:
        number: the same for those that came as the same bytes.

    """

    exercise: str
    case: int
    observation: Observation
    number: int


class Messages:
    """Reads messages; those that were read before it remembers, up to about so many bytes.

    Args:
        most: bytes, of messages and of the values in them.

    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._bytes = most, 0
        self._read: dict[bytes, Seen | None] = {}
        self._numbers = itertools.count()  # goes on when all is forgotten: no number comes twice

    def read(self, raw: bytes) -> Seen | None:
        """Return the observation in a message; None if it has none."""
        if raw not in self._read:
            size = len(raw) + PART_BYTES * parts_of(raw)
            if self._bytes + size > self._most:
                self._read.clear()
                self._bytes = 0
            self._read[raw] = self._new(raw)
            self._bytes += size
        return self._read[raw]

    def _new(self, raw: bytes) -> Seen | None:
        try:
            message = decode(raw)
        except WireError:
            return None
        number = next(self._numbers)
        return Seen(message.exercise, message.case, message.observation, number)


class Verdicts:
    """Keeps verdicts by what they depend on, up to about so many bytes.

    Args:
        most: bytes, of verdicts and of what they show: words in it are a student's.

    """

    def __init__(self, most: int = MOST_VERDICT_BYTES) -> None:
        self._most, self._bytes = most, 0
        self._kept: dict[Hashable, Verdict] = {}

    def of(self, on: Hashable, used: Hashable, judge: Callable[[], Verdict]) -> Verdict:
        """Return the verdict on what was asked and seen, judged now if it was not before.

        Args:
            on: what was asked, and what was seen.
            used: the names in the code, on which the cause of a fault may depend.
            judge: what judges.

        """
        for known in ((on,), (on, used)):
            if known in self._kept:
                return self._kept[known]
        verdict = judge()
        size = memory_of(verdict)
        if self._bytes + size > self._most:
            self._kept.clear()
            self._bytes = 0
        self._kept[(on,) if verdict.passed else (on, used)] = verdict
        self._bytes += size
        return verdict


def memory_of(verdict: Verdict) -> int:
    """Return about how many bytes a verdict takes, what it shares with others apart."""
    findings = [result.finding for result in verdict.results if result.finding is not None]
    texts = [text for f in findings for text in (f.message, f.line, *f.details)]
    pictures = [picture for f in findings for picture in f.pictures or ()]
    shown = sum(map(sys.getsizeof, [*texts, *verdict.symptoms])) + sum(p.nbytes for p in pictures)
    return RESULT_BYTES * len(verdict.results) + shown


messages: Final = Messages()
verdicts: Final = Verdicts()

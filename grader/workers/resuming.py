"""A job that did not come to its end, taken up again without the step that stopped it.

A new process does all over again but that step, so that what counts comes from one process.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grader.sandbox import Ended, Ending
from grader.workers.progress import Event, stuck_at
from utils.checks.registry import probes

MOST_TIMES: Final = 4  # that a job is taken up again
ENDED_EARLY: Final = (Ending.TIMED_OUT, Ending.CRASHED)


@dataclass
class Losses:
    """What a job had to leave out so far, and how its first process ended."""

    events: list[Event] = field(default_factory=list)
    status: Ending | None = None

    def leave_out(self, steps: bytes, ended: Ended) -> bytes | None:
        """Return the steps without what stopped a process; None if that is not known."""
        at = stuck_at(ended) if ended.status in ENDED_EARLY else None
        if at is None or len(self.events) == MOST_TIMES:
            return None
        plan: list[dict[str, Any]] = json.loads(steps)
        if at.step >= len(plan):
            return None
        plan[at.step] |= _rest(plan[at.step], at.case)
        self.events.append(at)
        self.status = self.status or ended.status
        return json.dumps(plan).encode()

    def told_with(self, ended: Ended | None) -> Ended | None:
        """Return how the last process ended, with what was left out before it."""
        if ended is None or self.status is None:
            return ended
        lost = [event.message() for event in self.events]
        return replace(ended, status=self.status, messages=(*ended.messages, *lost))


def _rest(step: dict[str, Any], case: int) -> dict[str, Any]:
    """Return what is left of a step: no cell, and of an exercise the cases before the one."""
    if not step["exercise"]:
        return {"source": ""}
    served = bool(probes()[step["exercise"]].served)  # its cases come in an order of their own
    return {"cases": [] if served else step["cases"][:case]}

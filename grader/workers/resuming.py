"""A job that did not come to its end, taken up again without the step that stopped it.

A new process does all over again but that step, so that what counts comes from one process. All
processes of a job share its time, so that it holds its worker no longer than one alone may.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grader.sandbox import Ended, Ending
from grader.workers.progress import Event, What, events, is_killed, stuck_at
from utils.checks.registry import probes

MOST_TIMES: Final = 4  # that a job is taken up again
MOST_CHANCES: Final = 3  # that it is tried again as a whole
ENDED_EARLY: Final = (Ending.TIMED_OUT, Ending.CRASHED, Ending.TOO_MUCH_OUTPUT)


@dataclass
class Losses:
    """What a job had to leave out so far, how its first process ended, and the time it took.

    Attributes:
        seconds: of wall-clock time, of all its processes.
        chances: how often it was tried once more, all of it, after what may have been chance.
        most: the earlier try that came farthest.

    """

    events: list[Event] = field(default_factory=list)
    status: Ending | None = None
    seconds: float = 0.0
    chances: int = 0
    most: Ended | None = None

    def go_on(self, steps: bytes, ended: Ended | None, seconds: float) -> bytes | None:
        """Return the steps of another try; None if that was the last one.

        Args:
            steps: those of the try that is over.
            ended: how it ended; None if its worker died.
            seconds: what all tries together may take.

        """
        if ended is not None and _stood_still(ended) and self.chances < MOST_CHANCES:
            self.chances += 1
            return steps
        self.seconds += 0.0 if ended is None else ended.wall_seconds
        if self.seconds >= seconds:
            return None
        if self.chances < _chances(ended):
            self.chances += 1
            return steps
        return None if ended is None else self._leave_out(steps, ended)

    def _leave_out(self, steps: bytes, ended: Ended) -> bytes | None:
        """Return the steps without what stopped a process; None if that is not known."""
        at = _stuck(ended)
        if at is None or len(self.events) == MOST_TIMES:
            return None
        plan: list[dict[str, Any]] = json.loads(steps)
        if at.step >= len(plan):
            return None
        plan[at.step] |= _rest(plan[at.step], at.case, ended.status)
        self.events.append(at)
        self.status = self.status or ended.status
        self.most = max(filter(None, (self.most, ended)), key=_distance)
        return json.dumps(plan).encode()

    def told_with(self, ended: Ended | None) -> Ended | None:
        """Return how the last process ended, with what was left out before it.

        If it ran out of time before it came as far as an earlier one, the earlier one counts.
        """
        if ended is None:
            return None
        most, events = self.most, list(self.events)
        if most and ended.status in ENDED_EARLY and _distance(most) > _distance(ended):
            best = most  # and the step at which the last ran out of time is not to blame
        else:
            best = ended
            events += filter(None, [_stuck(ended)])
        lost = [event.message() for event in events]
        return replace(
            best,
            status=self.status or ended.status,
            signal=best.signal if best.status == Ending.CRASHED else None,  # that was not ours
            messages=(*best.messages, *lost),
            wall_seconds=self.seconds,
        )


def _stood_still(ended: Ended) -> bool:
    """Return whether the machine stood still while a process was at work, and that cost it a step.

    Its own clock ran on, and may have stopped what was not at fault. Such a try takes no time.
    """
    is_stopped = any(event.what == What.STOPPED for event in events(ended.messages))
    return ended.still_seconds > 0 and (ended.status != Ending.FINISHED or is_stopped)


def _chances(ended: Ended | None) -> int:
    """Return how often a job may be tried again as a whole: the machine may be to blame.

    It is where a worker died, in which no student's code runs, or a process was killed: behind
    its walls it can send no signal. It is not where a process exits as if it were done.
    """
    if ended is None or is_killed(ended):
        return MOST_CHANCES
    return int(ended.status == Ending.CRASHED and ended.code != 0)


def _distance(ended: Ended) -> tuple[int, tuple[int, int]]:
    """Return how far a try came."""
    return len(ended.messages), ended.reached


def _stuck(ended: Ended) -> Event | None:
    """Return the step that a process was stopped at, or ended itself at, if that is known."""
    return stuck_at(ended) if ended.status in ENDED_EARLY else None


def _rest(step: dict[str, Any], case: int, status: Ending) -> dict[str, Any]:
    """Return what is left of a step, and how it ended: no cell, of an exercise the cases before.

    Of a cell it keeps what it was, for the sentence about an answer that it would have made.
    """
    if not step["exercise"]:
        return {"source": "", "left_out": step["source"], "ended": status}
    served = bool(probes()[step["exercise"]].served)  # its cases come in an order of their own
    return {"cases": [] if served else step["cases"][:case], "ended": status}

"""Grade a run on a cluster: a bounded number of batches is away, and each comes back once.

A batch may be graded twice, when a worker or the way back is lost; a submission's outcome is given
out once. What is lost is sent again; a submission that is lost again and again is given up, loudly.
"""

import hashlib
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from distributed import Future
from tqdm import tqdm

from grader.cluster.answers import Answered, read_answer
from grader.cluster.batches import Batch, Member, cut, size_for
from grader.cluster.request import Terms, write_request
from grader.cluster.roster import Roster
from grader.cluster.scheduler import Landed, Patience, Scheduler, Task
from grader.cluster.versions import difference
from grader.judging.outcome import GRADER_FAILED, Outcome, Status, without_run
from grader.reading.prepared import Item
from grader.workers.protocol import WireError

AHEAD: Final = 2  # batches for each thread: one at work, one there when it is done
GIVEN_UP: Final = GRADER_FAILED.format(error="its workers were lost again and again")


@dataclass(frozen=True)
class Flight:
    """A batch that is away.

    Attributes:
        bound: the workers that it may go to; none stands for any.
        since: when it was sent, by the monotonic clock.

    """

    future: Future[bytes]
    batch: Batch
    bound: frozenset[str]
    since: float = field(default_factory=time.monotonic)


class Window:
    """The batches of a run."""

    def __init__(self, scheduler: Scheduler, terms: Terms, task: Task, patience: Patience) -> None:
        self._scheduler, self._terms, self._task = scheduler, terms, task
        self._patience = patience
        self._roster = Roster()
        self._flights: dict[str, Flight] = {}
        self._again: deque[Batch] = deque()
        self._given_up: deque[Member] = deque()
        self._sent = 0
        self._look_at = 0.0

    def grade(self, items: Iterable[Item], count: int) -> Iterator[tuple[int, Outcome]]:
        """Grade `count` submissions; yield (position, outcome), as `grade_all` does on one machine.

        Raises:
            CourseError: the scheduler is gone, there are no workers, or none that can grade.

        """
        self._look()
        fresh = cut(items, size_for(count, sum(self._roster.usable.values())))
        while self._fill(fresh):
            futures = [flight.future for flight in self._flights.values()]
            for landed in self._scheduler.landed(futures):
                flight = self._flights.pop(landed.key)
                yield from self._taken(flight.batch, landed)
                flight.future.release()
            self._look_if_due()
            yield from self._abandoned()

    def _fill(self, fresh: Iterator[Batch]) -> bool:
        """Send batches while there is room; return whether any is away."""
        room = AHEAD * sum(self._roster.usable.values()) + 1
        while len(self._flights) < room:
            batch = self._again.popleft() if self._again else next(fresh, None)
            if batch is None:
                break
            self._send(batch)
        return bool(self._flights)

    def _send(self, batch: Batch) -> None:
        request = write_request(self._terms, [member.item for member in batch.members])
        self._sent += 1
        key = f"grade-{hashlib.sha256(request).hexdigest()[:32]}-{self._sent}"
        bound = self._roster.bound(batch.doubted)
        given = request, self._terms.limits.wall_seconds + self._patience.silence
        self._flights[key] = Flight(
            self._scheduler.send(self._task, key, given, bound), batch, bound
        )

    def _taken(self, batch: Batch, landed: Landed) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcomes of a batch that is over; see to the rest of it."""
        if landed.answer is None:
            self._send_again(batch.lost() if landed.is_blamed else [batch])
            return
        try:
            answer = read_answer(landed.answer, [m.item.lesson for m in batch.members])
        except WireError:
            self._send_again(batch.lost())
            return
        for place, outcome in answer.outcomes.items():
            member = batch.members[place]
            if _is_doubtful(outcome) and not batch.doubted:
                self._again.append(Batch((member,), batch.losses, answer.worker))
            else:
                yield member.position, outcome
        self._see_to_rest(batch, answer)

    def _see_to_rest(self, batch: Batch, answer: Answered) -> None:
        """Send again what a worker left of a batch, and do not go back to one that cannot grade."""
        why = difference(answer.refused, self._terms.versions) if answer.refused else answer.failed
        if why and (told := self._roster.exclude(answer.worker, why)):
            tqdm.write(told, sys.stderr)
            self._look_at = 0.0  # before anything is sent: there may be no other worker
        left = [m for place, m in enumerate(batch.members) if place not in answer.outcomes]
        if left:
            rest = replace(batch, members=tuple(left))
            ran_out_of_time = bool(answer.outcomes) and not answer.lost
            self._send_again([rest] if why or ran_out_of_time else rest.lost())

    def _send_again(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if batch.is_given_up:
                self._given_up += batch.members
            else:
                self._again.append(batch)

    def _abandoned(self) -> Iterator[tuple[int, Outcome]]:
        """Yield, as our own failures, submissions that were lost too often."""
        while self._given_up:
            member = self._given_up.popleft()
            outcome = without_run(member.item.lesson, Status.GRADER_ERROR, GIVEN_UP)
            yield member.position, outcome

    def _look_if_due(self) -> None:
        if time.monotonic() >= self._look_at:
            self._look()

    def _look(self) -> None:
        """Look at the workers, and at batches that cannot come back any more.

        Raises:
            CourseError: the scheduler is gone, there are no workers, or none that can grade.

        """
        self._roster.update(self._scheduler.await_workers())
        self._look_at = time.monotonic() + self._patience.look
        longest = self._patience.flight(self._terms.limits.wall_seconds)
        for key, flight in list(self._flights.items()):
            is_late = time.monotonic() - flight.since > longest
            if is_late or not self._roster.is_there(flight.bound):
                del self._flights[key]
                flight.future.release()
                self._send_again(flight.batch.lost() if is_late else [flight.batch])


def _is_doubtful(outcome: Outcome) -> bool:
    """Return whether the machine may be to blame: then another one is asked."""
    return outcome.status == Status.GRADER_ERROR

"""Where submissions are graded: on this machine, or wherever another engine sends them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from grader.judging.outcome import Outcome
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool

# Items in; (position among them, outcome) out, in the order they finish.
Grade = Callable[[Iterable[Item]], Iterator[tuple[int, Outcome]]]


class Engine(Protocol):
    """What grades the submissions of a run, without a look at the gradebook."""

    def opened(self, count: int, scratch: Path) -> AbstractContextManager[Grade]:
        """Get ready to grade `count` submissions; temporary files go to `scratch`."""
        ...


@dataclass(frozen=True)
class ThisMachine:
    """Grade on this machine, `n_jobs` at once."""

    n_jobs: int
    limits: Limits = field(default_factory=Limits)
    isolate: bool = True

    @contextmanager
    def opened(self, count: int, scratch: Path) -> Iterator[Grade]:
        """Start as many watchers as there is work for.

        Raises:
            CannotIsolate: this machine cannot isolate; raised once grading begins.

        """
        watchers = min(self.n_jobs, count)
        with Pool(watchers, self.limits, isolate=self.isolate, scratch=scratch) as pool:
            yield partial(grade_all, pool=pool)

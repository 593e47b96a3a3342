"""How long a client waits for what, in seconds: no wait is without an end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Limits on waiting.

    Attributes:
        batch: a worker begins no further submission of a batch after so long.
        silence: what a submission may take beyond its own wall-clock limit, start-up included;
            then the process that grades is taken to hang.
        workers: for a worker, when there is none.
        scheduler: for a scheduler that does not answer.
        look: from one look at the workers to the next.

    """

    batch: float = 600.0
    silence: float = 240.0
    workers: float = 300.0
    scheduler: float = 30.0
    look: float = 2.0

    def flight(self, wall_seconds: float) -> float:
        """Return how long a batch may be away: it may wait for another one before it begins."""
        return 2 * (self.batch + self.silence + wall_seconds)

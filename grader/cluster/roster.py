"""Workers that batches may go to: all that are connected, except those that cannot grade."""

from collections.abc import Mapping

from grader.errors import CourseError


class Roster:
    """The workers of a run.

    Attributes:
        threads: of all that can grade.

    """

    def __init__(self) -> None:
        self._present: Mapping[str, int] = {}
        self._refused: dict[str, str] = {}

    def update(self, present: Mapping[str, int]) -> None:
        """Take note of the workers that are there now.

        Raises:
            CourseError: all of them turned out not to be able to grade.

        """
        self._present = present
        if present and not self.usable:
            raise CourseError(
                "The cluster has no worker that can grade. "
                f"{' '.join(self._refused[name] for name in present)} "
                "Set that right, then run the same command again: what was graded is recorded."
            )

    @property
    def usable(self) -> dict[str, int]:
        """Return the workers that are there and can grade -> their threads."""
        return {name: n for name, n in self._present.items() if name not in self._refused}

    def exclude(self, worker: str, why: str) -> str:
        """Send a worker nothing more; return a sentence about it, "" if it was told before."""
        if worker in self._refused:
            return ""
        self._refused[worker] = f"{worker} is not used: {why}."
        return self._refused[worker]

    def bound(self, doubted: str) -> frozenset[str]:
        """Return the workers that a batch may go to; none stands for any.

        Args:
            doubted: a worker that it should not go to if there is another.

        """
        usable = self.usable
        others = usable.keys() - {doubted}
        return frozenset(others or usable) if doubted or self._refused else frozenset()

    def is_there(self, bound: frozenset[str]) -> bool:
        """Return whether any of the workers that a batch was bound to is there."""
        return not bound or not bound.isdisjoint(self._present)

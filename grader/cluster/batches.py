"""Submissions in batches, cut and cut again; a batch knows how often it was lost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from grader.reading.prepared import Item

FEWEST, MOST = 10, 50  # submissions of a batch
ROUNDS: Final = (
    4  # batches for each worker's thread, if there is enough: the last ones end together
)
MOST_BYTES: Final = 4 << 20  # of a batch's notebooks, unless a single one is larger
WHOLE_LOSSES: Final = 2  # that a batch is sent again whole; then one submission may be to blame
MOST_LOSSES: Final = 6  # of a submission on its own; then it is given up


@dataclass(frozen=True)
class Member:
    """A submission and its position in the run."""

    position: int
    item: Item


@dataclass(frozen=True)
class Batch:
    """Submissions that go to a worker together.

    Attributes:
        losses: how often it was lost on the way, or its members with batches before it.
        doubted: the worker whose outcome another one is to confirm; "" if there is none.

    """

    members: tuple[Member, ...]
    losses: int = 0
    doubted: str = ""

    @property
    def is_given_up(self) -> bool:
        """Return whether it was lost so often that it is not sent again."""
        return self.losses >= MOST_LOSSES

    def lost(self) -> list["Batch"]:
        """Return what to send once it was lost: the same, or each submission on its own."""
        again = replace(self, losses=self.losses + 1)
        return [again] if again.losses < WHOLE_LOSSES else again.singly()

    def singly(self) -> list["Batch"]:
        """Return a batch for each submission."""
        return [replace(self, members=(member,)) for member in self.members]


def size_for(count: int, threads: int) -> int:
    """Return how many submissions make a batch, so that all threads have work to the end."""
    even = -(-count // threads)
    return max(1, min(MOST, even, max(FEWEST, count // (ROUNDS * threads))))


def cut(items: Iterable[Item], size: int) -> Iterator[Batch]:
    """Yield items in batches of a size; one that grows too large in bytes ends early."""
    members: list[Member] = []
    n_bytes = 0
    for position, item in enumerate(items):
        if members and (len(members) == size or n_bytes + len(item.data) > MOST_BYTES):
            yield Batch(tuple(members))
            members, n_bytes = [], 0
        members.append(Member(position, item))
        n_bytes += len(item.data)
    if members:
        yield Batch(tuple(members))

"""A wrong variant that is the right source with some of its text replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from utils.checks.bank.source import Source
from utils.checks.combining import Deferred, made
from utils.checks.observe.substitution import live


class PatchError(ValueError):
    """A patch that does not fit the right source; the message says why."""


@dataclass(frozen=True, order=True)
class Edit:
    """A piece of the right source, from start to end, and what stands there instead."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Patched(Deferred):
    """The right answer with edits, compiled when it is first tried.

    Attributes:
        source: what is patched.
        edits: in the order of their places; they do not touch one another's text.
        stand_ins: what the answer sees of earlier exercises.

    """

    source: Source
    edits: tuple[Edit, ...]
    stand_ins: Mapping[str, Any] = field(compare=False)

    def made(self) -> Any:
        """Return the variant; each call returns the same."""
        return self._made

    @cached_property
    def _made(self) -> Any:
        names = {name: live(made(stand_in)) for name, stand_in in self.stand_ins.items()}
        return self.source.defined(self.text, names)

    @property
    def text(self) -> str:
        """The patched cell."""
        text = self.source.text
        for edit in reversed(self.edits):
            text = text[: edit.start] + edit.new + text[edit.end :]
        return text

    def together_with(self, other: Deferred) -> Deferred | None:
        """Return the variant with the edits of both, if each has its own and they lie apart."""
        if not isinstance(other, Patched) or other.source != self.source:
            return None
        edits = tuple(sorted({*self.edits, *other.edits}))
        if edits in (self.edits, other.edits) or not _lie_apart(edits):
            return None
        return Patched(self.source, edits, self.stand_ins)


def patched(source: Source, patch: Sequence[str], stand_ins: Mapping[str, Any]) -> Patched:
    """Return what a patch makes of the right source.

    Args:
        source: of the exercise.
        patch: old and new text in turn. An old text must stand exactly once in the solution
            regions of the cell, all taken together.
        stand_ins: what the answer sees of earlier exercises.

    Raises:
        PatchError: a text stands there never or more than once, or two texts overlap.

    """
    edits = []
    for old, new in zip(patch[0::2], patch[1::2], strict=True):
        places = source.places(old) if old else []
        if len(places) != 1:
            raise PatchError(
                f"`{old}` stands {len(places)} times in the solution; a patch must match exactly "
                "once, so give more or less of the text around it"
            )
        edits.append(Edit(places[0], places[0] + len(old), new))
    edits.sort()
    if not _lie_apart(edits):
        raise PatchError("two of its patches overlap")
    return Patched(source, tuple(edits), stand_ins)


def _lie_apart(edits: Sequence[Edit]) -> bool:
    return all(one.end <= other.start for one, other in pairwise(edits))

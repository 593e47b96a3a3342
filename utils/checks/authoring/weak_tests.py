"""What is wrong with a student's own test: the broken versions that it lets pass, and the rest."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from utils.checks.exercise import Mistake
from utils.checks.explain.seen.silent_tests import FINDS_NOTHING, RANDOM_TEST
from utils.words import listed

Test = Callable[[Any], None]
# What finds a broken version and no other, what that version is called, and a hint to find it.
Finder = tuple[Callable[[Any], bool], str, str]


@dataclass(frozen=True)
class Told:
    """What a student reads of a test that decides alike on all versions.

    Attributes:
        nothing: a hint for a test that accepts all.
        everything: what is wrong with one that rejects all.
        right: a hint for that.

    """

    nothing: str
    everything: str
    right: str


def weak_tests(
    finders: Mapping[str, Finder], names: Mapping[tuple[str, ...], str], told: Told
) -> tuple[Mistake, ...]:
    """Return the mistakes of tests: random ones, and those that find some broken versions only.

    Args:
        finders: by a short name of the broken version.
        names: what a test that finds just these versions is called, where that is no list.
        told: what is said of tests that find nothing or reject everything.

    """
    return (
        Mistake(
            RANDOM_TEST,
            "Your test is random: asked again about the same version, it gives another answer.",
            "Seed with torch.manual_seed(0) in its first line, or write the numbers down, so that "
            "it gives the same answer every time.",
            _changes_its_mind(),
        ),
        Mistake(
            FINDS_NOTHING,
            "Your test accepts every version, the broken ones too: it never raised anything.",
            told.nothing,
            _finding(finders, ()),
        ),
        Mistake("rejects_everything", told.everything, told.right, _rejects_everything),
        *(
            _letting_pass(finders, names, missed)
            for count in range(1, len(finders))
            for missed in itertools.combinations(finders, count)
        ),
    )


def _finding(finders: Mapping[str, Finder], found: Iterable[str]) -> Test:
    kept = [finders[name][0] for name in found]

    def weak_test(version: Any) -> None:
        assert not any(finds(version) for finds in kept)

    return weak_test


def _letting_pass(
    finders: Mapping[str, Finder], names: Mapping[tuple[str, ...], str], missed: tuple[str, ...]
) -> Mistake:
    """Make the mistake of a test that lets some broken versions pass, and finds the others."""
    found = tuple(name for name in finders if name not in missed)
    name = names.get(found) or "_and_".join(missed).replace(" ", "_") + "_not_tested"
    what = [finders[part][1] for part in missed]
    hint = finders[missed[0]][2]
    return Mistake(name, f"Your test accepts {listed(what)}.", hint, _finding(finders, found))


def _rejects_everything(_version: Any) -> None:
    raise AssertionError


def _changes_its_mind() -> Test:
    """Build a test that decides by chance, and never the same five times in a row."""
    turn = itertools.count()

    def random_test(_version: Any) -> None:
        torch.rand(1)
        assert next(turn) % 2

    return random_test

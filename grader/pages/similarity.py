"""Pairs of students whose own code of a lesson overlaps, by copydetect, for a person to judge.

copydetect (MIT) compares fingerprints of the code with names and comments left out, as MOSS does
(Schleimer, Wilkerson and Aiken 2003). Runs of 25 characters and more count, its own default:
shorter ones accuse everybody who writes a matrix product.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import nlargest
from importlib.util import find_spec
from io import StringIO
from itertools import combinations
from typing import Any, Final

MOST_CODE: Final = 4_000  # characters of one answer: reading code into tokens takes time
MOST_SHOWN: Final = 12  # pairs of one lesson
LOOKED_AT: Final = 60  # pairs that are compared in full
HOW_TO_GET_IT: Final = (
    "Similar pairs are not shown: copydetect is not installed. To have them: "
    ".venv/bin/pip install -c constraints.txt copydetect, then the same command."
)

Piece = tuple[str, bool]  # some code, and whether the other one has it too


@dataclass(frozen=True)
class Pair:
    """Two students and their code, in pieces.

    Attributes:
        students: whose.
        shares: how much of each one's code the other has too, 0 to 1.
        codes: both codes in pieces, for looking at them side by side.

    """

    students: tuple[str, str]
    shares: tuple[float, float]
    codes: tuple[tuple[Piece, ...], tuple[Piece, ...]]


def can_compare() -> bool:
    """Return whether copydetect is installed."""
    return find_spec("copydetect") is not None


def own_code(sources: Mapping[str, str], stubs: Mapping[str, str]) -> str:
    """Return a student's own lines of all exercises: what was given to everybody is left out."""
    parts = []
    for name, source in sources.items():
        given = {line.strip() for line in stubs.get(name, "").splitlines()}
        lines = source[:MOST_CODE].splitlines()
        own = [line for line in lines if line.strip() and line.strip() not in given]
        parts += [f"# {name}", *own] if own else []
    return "\n".join(parts)


def similar_pairs(codes: Mapping[str, str]) -> list[Pair]:
    """Return the pairs that copydetect shows at its defaults, the most alike first, not all.

    Args:
        codes: student -> own code.

    """
    from copydetect import CodeFingerprint, compare_files, defaults  # noqa: PLC0415 (optional)

    k, window = defaults.NOISE_THRESHOLD, defaults.GUARANTEE_THRESHOLD
    prints = {
        student: CodeFingerprint("code.py", k, window - k + 1, fp=StringIO(code))
        for student, code in codes.items()
    }
    close = nlargest(
        LOOKED_AT,
        combinations(prints, 2),
        key=lambda pair: _in_common(prints[pair[0]].hashes, prints[pair[1]].hashes),
    )
    compared = [
        (pair, *compare_files(*(prints[student] for student in pair))[1:]) for pair in close
    ]
    shown = [found for found in compared if max(found[1]) >= defaults.DISPLAY_THRESHOLD]
    shown.sort(key=lambda found: (-min(found[1]), found[0]))
    return [_pair(codes, *found) for found in shown[:MOST_SHOWN]]


def _in_common(one: AbstractSet[int], other: AbstractSet[int]) -> float:
    """Return the share of fingerprints in common, which is quick; the exact share takes longer."""
    return len(one & other) / max(1, min(len(one), len(other)))


def _pair(
    codes: Mapping[str, str], students: tuple[str, str], shares: Sequence[Any], slices: Any
) -> Pair:
    one, other = (tuple(_pieces(codes[student], slices[n])) for n, student in enumerate(students))
    return Pair(students, (float(shares[0]), float(shares[1])), (one, other))


def _pieces(code: str, slices: Sequence[Any]) -> Iterator[Piece]:
    """Cut code where shared parts begin and end."""
    place = 0
    for start, end in zip(*slices, strict=True):
        begin = max(place, int(start))
        yield code[place:begin], False
        yield code[begin : int(end)], True
        place = max(begin, int(end))
    yield code[place:], False

"""Words in pieces: right answers, and the mistakes that no patch says."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.pretrained_encoder.probes import PROBES

UNKNOWN = ["[UNK]"]


def _pattern(pieces: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(pieces, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")


def _pieces(word: str, vocab: Mapping[str, int]) -> list[str]:
    """Cut by regular expressions, whose alternatives are tried in turn."""
    first = _pattern(p for p in vocab if not p.startswith("##"))
    inside = _pattern(p[2:] for p in vocab if p.startswith("##"))
    found, place = list[str](), 0
    while place < len(word):
        piece = (inside if place else first).match(word, place)
        if piece is None:
            return UNKNOWN
        found.append(("##" if place else "") + piece[0])
        place = piece.end()
    return found


def _going_back(word: str, vocab: Mapping[str, int], start: int = 0) -> list[str] | None:
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = ("##" if start else "") + word[start:end]
        rest = _going_back(word, vocab, end) if piece in vocab else None
        if rest is not None:
            return [piece, *rest]
    return None


def _from_the_right(word: str, vocab: Mapping[str, int]) -> list[str]:
    found, end = list[str](), len(word)
    while end > 0:
        starts = range(end)
        fits = (s for s in starts if ("##" if s else "") + word[s:end] in vocab)
        start = next(fits, None)
        if start is None:
            return UNKNOWN
        found.insert(0, ("##" if start else "") + word[start:end])
        end = start
    return found


def _longest_anywhere(word: str, vocab: Mapping[str, int], start: int = 0) -> list[str]:
    """Take the longest piece wherever it stands, then the same left and right of it."""
    if not word:
        return []
    spans = ((s, e) for s, e in itertools.combinations(range(len(word) + 1), 2))
    for s, e in sorted(spans, key=lambda span: span[0] - span[1]):
        piece = ("##" if start + s else "") + word[s:e]
        if piece in vocab:
            left = _longest_anywhere(word[:s], vocab, start)
            right = _longest_anywhere(word[e:], vocab, start + e)
            return UNKNOWN if UNKNOWN in (left, right) else [*left, piece, *right]
    return UNKNOWN


def _first_pieces(
    words: Sequence[str], encode: Callable[[str], list[int]]
) -> tuple[list[int], list[int]]:
    """Add up the numbers of pieces."""
    pieces = [encode(word) or [100] for word in words]
    ends = itertools.accumulate(map(len, pieces), initial=1)
    return [101, *itertools.chain.from_iterable(pieces), 102], list(ends)[:-1]


EXERCISES = by_id(
    Exercise(
        PROBES["word_pieces"],
        _pieces,
        (
            Mistake(
                "goes_back",
                "Where no piece fits, a shorter one is tried before it: pieces are taken back.",
                "The longest piece is taken for good. If it leads nowhere, the word is unknown.",
                lambda word, vocab: UNKNOWN if (f := _going_back(word, vocab)) is None else f,
            ),
            Mistake(
                "from_the_right",
                "The word is cut from its end: the longest piece that ends there comes first.",
                "Which end of the word does the first piece come from?",
                _from_the_right,
            ),
            Mistake(
                "longest_anywhere",
                "The longest piece is taken wherever in the word it stands.",
                "Cut from the left: of the pieces that begin here, which is the longest?",
                _longest_anywhere,
            ),
        ),
    ),
    Exercise(PROBES["first_pieces"], _first_pieces),
)

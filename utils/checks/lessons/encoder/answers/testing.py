"""The student's own test of padding: a good test and what weak ones let pass."""

import torch

from utils.checks.authoring.weak_tests import Finder, Told, weak_tests
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.probes.versions import Encode, name_of

_SENTENCES = ([3, 7, 1, 2, 9], [5, 4], [8, 6, 2])


def good_test(encoder: Encode) -> None:
    """Compare each sentence alone with its rows in a padded batch, whichever comes first."""
    for order in (_SENTENCES, _SENTENCES[::-1]):
        longest = max(map(len, order))
        padded = encoder(torch.tensor([ids + [0] * (longest - len(ids)) for ids in order]))
        for row, ids in zip(padded, order, strict=True):
            assert torch.allclose(row[: len(ids)], encoder(torch.tensor([ids]))[0], atol=1e-4)


def _padding_compared(encoder: Encode) -> None:
    good_test(encoder)
    less, more = (encoder(torch.tensor([[*_SENTENCES[2], *zeros]])) for zeros in ([0], [0, 0]))
    assert torch.allclose(less, more[:, : less.shape[1]], atol=1e-4)


def _difference_wanted(encoder: Encode) -> None:
    ids = _SENTENCES[2]
    alone, padded = (encoder(torch.tensor([row])) for row in (ids, [*ids, 0, 0]))
    assert not torch.allclose(padded[:, : len(ids)], alone, atol=1e-4)


def _finder(name: str, called: str, hint: str) -> Finder:
    return lambda encoder: name_of(encoder) == name, called, hint


_ALONE = "Does a sentence get the same vectors alone as with a 0 or two after it?"
_FINDERS: dict[str, Finder] = {
    "no mask": _finder("padding attended to", "an encoder whose words attend to padding", _ALONE),
    "first layer": _finder(
        "only the first layer masked", "an encoder that masks in its first layer alone", _ALONE
    ),
    "one mask": _finder(
        "the first sentence's mask",
        "an encoder that uses the first sentence's mask for the whole batch",
        "Put sentences of different lengths into one batch, the longest first and the longest "
        "last, and look at every one of them.",
    ),
    "positions": _finder(
        "counted from the end",
        "an encoder that counts positions from the end, padding included",
        "Change only the number of zeros after a sentence: the vectors of its words must stay the "
        "same.",
    ),
}
_NAMES: dict[tuple[str, ...], str] = {
    ("no mask", "first layer", "positions"): "one_sentence_at_a_time"
}

WEAK = (
    *weak_tests(
        _FINDERS,
        _NAMES,
        Told(
            nothing=(
                "Encode a sentence alone, then with zeros after it, and `assert` that its words "
                "get the same vectors. Is that comparison ever reached, and can it fail?"
            ),
            everything="Your test rejects encoders that are right.",
            right=(
                "Compare only the rows of words: those of padding may be anything. Use "
                "torch.allclose, because the last digits differ. In your sentences, zeros come "
                "after the words, never before or between them."
            ),
        ),
    ),
    Mistake(
        "demands_a_difference",
        "Your test demands that a sentence changes with the padding after it, and rejects "
        "encoders in which it does not.",
        "assert says what must hold: is there a `not` too many?",
        _difference_wanted,
    ),
    Mistake(
        "padding_compared",
        "Your test compares the rows of padding, too, but right encoders may put anything there.",
        "Nobody reads the vectors of padding. Compare only the rows of words.",
        _padding_compared,
    ),
)
EXERCISES = by_id(Exercise(PROBES["test_padding"], good_test, WEAK))

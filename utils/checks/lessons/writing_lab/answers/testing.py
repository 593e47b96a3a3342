"""The student's own test of the mask: a good test and what weak ones let pass."""

import torch

from utils.checks.authoring.weak_tests import Finder, Told, weak_tests
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.writing_lab.probes import PROBES
from utils.checks.lessons.writing_lab.probes.versions import Model, name_of

_TEXTS = torch.tensor([[3, 7, 1, 2, 9, 4], [5, 4, 8, 8, 6, 2]])
_NEAR = 1e-4


def good_test(model: Model) -> None:
    """Compare each beginning of a text, alone, with the same rows of both whole texts."""
    together = model(_TEXTS)
    for text, row in zip(_TEXTS, together, strict=True):
        for length in range(1, len(text) + 1):
            alone = model(text[None, :length])[0]
            assert torch.allclose(alone, row[:length], atol=_NEAR)


def _difference_wanted(model: Model) -> None:
    changed = _TEXTS[:1].clone()
    changed[:, -1] = 0
    before, after = model(_TEXTS[:1]), model(changed)
    assert not torch.allclose(before[:, :-1], after[:, :-1], atol=_NEAR)


def _finder(name: str, called: str, hint: str) -> Finder:
    return lambda model: name_of(model) == name, called, hint


_LATER = "Change one id. Do the logits of all positions before it stay as they were?"
_FINDERS: dict[str, Finder] = {
    "no mask": _finder("no mask", "a model without a mask", _LATER),
    "transposed": _finder("transposed mask", "a model whose mask is transposed", _LATER),
    "too far": _finder(
        "one too far",
        "a model in which each position sees the next one",
        "With a mask that reaches one too far, only positions right before a changed id notice. "
        "Are they among those that you compare?",
    ),
    "first layer": _finder(
        "only the first layer masked", "a model that masks in its first layer alone", _LATER
    ),
    "mean": _finder(
        "mean of the whole text", "a model that adds the mean of the whole text", _LATER
    ),
    "batch": _finder(
        "mean over the batch",
        "a model in which texts of a batch see each other",
        "Put two texts into one batch and change one of them. What must become of the other?",
    ),
}
_NAMES: dict[tuple[str, ...], str] = {
    ("no mask", "transposed", "too far", "first layer", "mean"): "one_text_at_a_time",
    ("batch",): "other_texts_alone",
}

WEAK = (
    *weak_tests(
        _FINDERS,
        _NAMES,
        Told(
            nothing=(
                "Change a late id of a text, and `assert` that the logits before it stay. Is that "
                "comparison ever reached, and can it fail?"
            ),
            everything="Your test rejects models that are right.",
            right=(
                "A changed id may change the logits of its own position and of all later ones: "
                "compare only those before it. Use torch.allclose, because last digits differ."
            ),
        ),
    ),
    Mistake(
        "demands_a_difference",
        "Your test demands that a later id changes earlier logits, and rejects models in which it "
        "does not.",
        "assert says what must hold: is there a `not` too many?",
        _difference_wanted,
    ),
)
EXERCISES = by_id(Exercise(PROBES["test_no_peeking"], good_test, WEAK))

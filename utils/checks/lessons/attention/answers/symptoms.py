"""The bug hunt: which bug is behind which picture, and common misreadings."""

from collections.abc import Callable

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES


@by_choices
def _named(
    *, a: str = "softmax twice", b: str = "scaling forgotten", c: str = "masked too late"
) -> Callable[[], dict[str, str]]:
    """Build a reading of the three pictures."""
    return lambda: {"A": a, "B": b, "C": c}


def _misread(name: str, message: str, hint: str, **named: str) -> Mistake:
    return Mistake(name, message, hint, _named(**named))


_OTHERS = (
    (
        "a",
        "scaling forgotten",
        "Without the scale the scores are large, and rows become sharp. Those of A are flat.",
        "Compare the largest weight of a row of A with the right one.",
    ),
    (
        "a",
        "softmax over queries",
        "With softmax over the queries the rows would not sum to one. Those of A do.",
        "The direction is right in A. What makes all weights nearly the same, the padding's too?",
    ),
    (
        "b",
        "mask ignored",
        "With the mask ignored the padding would have weight. In B it has none.",
        "The mask works in B. What makes one key take nearly everything?",
    ),
    (
        "b",
        "masked too late",
        "With a mask that comes late the rows sum to less than one. Those of B do not.",
        "Nothing is lost in B. What makes one key take nearly everything?",
    ),
    (
        "c",
        "softmax twice",
        "After a second softmax the padding has weight and rows sum to one. In C neither holds.",
        "In C every row spends too little. When was the rest taken away?",
    ),
    (
        "c",
        "scaling forgotten",
        "Whatever the scores are, softmax makes rows that sum to one. Those of C do not.",
        "Something took weight away after the softmax.",
    ),
)
EXERCISES = by_id(
    Exercise(
        PROBES["predict_bug_of_symptom"],
        _named(),
        (
            _misread(
                "flat_taken_for_an_ignored_mask",
                "With the mask ignored, the padding would get what its scores earn, here more and "
                "there less. In A it gets the same in both columns, the least of the row.",
                "Which weight goes into the last step of A, if all padding gets the same?",
                a="mask ignored",
            ),
            _misread(
                "flat_taken_for_small_scores",
                "Scores that are divided twice make rows flat. But the padding would still get 0.",
                "In A the padding has some weight. A score of minus infinity never gives that.",
                a="scaled twice",
            ),
            _misread(
                "flat_taken_for_a_late_mask",
                "A mask that comes late still puts zeros on the padding. A has none.",
                "Look at the columns of padding, then at the sums of the rows.",
                a="masked too late",
            ),
            _misread(
                "sharp_taken_for_small_scores",
                "Smaller scores make softmax undecided. In B it is more decided than it should be.",
                "Are the scores of B too large or too small?",
                b="scaled twice",
            ),
            _misread(
                "sharp_taken_for_two_softmaxes",
                "A second softmax makes rows flat: what it gets lies between 0 and 1. B is sharp.",
                "Take the softmax of (1, 0, 0). How large is the largest weight?",
                b="softmax twice",
            ),
            _misread(
                "sharp_taken_for_the_wrong_axis",
                "With softmax over the queries the columns would sum to one, the rows would not. "
                "In B the rows do.",
                "The direction is right in B. What makes one key take nearly everything?",
                b="softmax over queries",
            ),
            *(
                _misread(
                    f"{letter}_taken_for_{bug.replace(' ', '_')}", message, hint, **{letter: bug}
                )
                for letter, bug, message, hint in _OTHERS
            ),
            _misread(
                "loss_taken_for_the_wrong_axis",
                "With softmax over the queries each column of a word would sum to one. Add up a "
                "column of C.",
                "In C every row spends too little, and padding gets nothing. Where is the rest?",
                c="softmax over queries",
            ),
            _misread(
                "loss_taken_for_an_ignored_mask",
                "With the mask ignored the padding would have weight. In C it has none.",
                "In C every row spends too little. When was the rest taken away?",
                c="mask ignored",
            ),
            _misread(
                "loss_taken_for_small_scores",
                "Whatever the scores are, softmax makes rows that sum to one. Those of C do not.",
                "Something took weight away after the softmax.",
                c="scaled twice",
            ),
        ),
    ),
)

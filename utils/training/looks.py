"""How far heads look from a word, and whether that shows that they were needed there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from utils.training.told import Known, Tagged

ONLY, BOTH, ONE_TAG = "that only rotary gets right", "that both get right", "with one tag only"
KINDS = ONLY, BOTH, ONE_TAG
FAR = 4  # words to each side


@dataclass(frozen=True)
class Look:
    """Where the heads look from one word of a sentence.

    Attributes:
        sentence: T words with their tags.
        place: the word's place.
        weights: what each head gives to each word from there, (heads, T).

    """

    sentence: Tagged
    place: int
    weights: Tensor


def by_kind(
    sentence: Tagged, alone: Sequence[str], seen: Sequence[str], tags: Known
) -> dict[str, list[int]]:
    """Sort the words that *rotary* gets right, but for unknown words.

    Args:
        sentence: words with their right tags.
        alone: what *one word at a time* says.
        seen: what *rotary* says.
        tags: the tags that a word had in training.

    Returns:
        Places of ambiguous words that only *rotary* gets right, of those that both get right, and
        of words that had one tag in training.

    """
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for place, (word, tag) in enumerate(sentence):
        known = len(tags.get(word, ()))
        if seen[place] == tag and known:
            kind = ONE_TAG if known == 1 else BOTH if alone[place] == tag else ONLY
            found[kind].append(place)
    return found


def by_distance(looks: Sequence[Look]) -> Tensor:
    """Return each head's mean weight on the word at each distance, (heads, 2 * FAR + 1).

    A word so near to an end of its sentence that none stands there does not count there.
    """
    total = torch.zeros(len(looks[0].weights), 2 * FAR + 1)
    words = torch.zeros(2 * FAR + 1)
    for look in looks:
        for column, there in enumerate(range(look.place - FAR, look.place + FAR + 1)):
            if 0 <= there < len(look.sentence):
                total[:, column] += look.weights[:, there]
                words[column] += 1
    return total / words.clamp(min=1)


def most_before(groups: Mapping[str, Sequence[Look]]) -> int:
    """Return the head that looks at the word before most, where only *rotary* is right."""
    return int(by_distance(groups[ONLY])[:, FAR - 1].argmax())

"""At which prepositions heads look from a word, and whether these can explain the word's case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from utils.training.told import Known, Tagged, case_of, prepositions

KINDS = ONLY, BOTH, NO_CASE = "only rotary", "both", "no case"  # who gets a word right; or no case
TOLD = {ONLY: "that only rotary gets right", BOTH: "that both get right", NO_CASE: "without a case"}


@dataclass(frozen=True)
class Look:
    """Where the heads look from one word of a sentence.

    Attributes:
        sentence: T words with their tags, one of them a preposition.
        place: the word's place.
        weights: what each head gives to each word from there, (heads, T).

    """

    sentence: Tagged
    place: int
    weights: Tensor

    @property
    def found(self) -> list[int]:
        """Return the places of the sentence's prepositions."""
        return list(prepositions(self.sentence))

    @property
    def fitting(self) -> list[int]:
        """Return those of them that take the word's case."""
        return [at for at in self.found if self._case(at) == self._case(self.place)]

    @property
    def has_choice(self) -> bool:
        """Return whether the word has a case that some prepositions take, and others do not."""
        return bool(self._case(self.place)) and 0 < len(self.fitting) < len(self.found)

    def _case(self, place: int) -> str:
        return case_of(self.sentence[place][1])


def by_kind(
    sentence: Tagged, alone: Sequence[str], seen: Sequence[str], tags: Known
) -> dict[str, list[int]]:
    """Sort the words behind a preposition that *rotary* gets right; prepositions do not count.

    Args:
        sentence: words with their right tags.
        alone: what *one word at a time* says.
        seen: what *rotary* says.
        tags: the tags that a word had in training.

    Returns:
        Places of ambiguous words with a case that only *rotary* gets right, of those that both get
        right, and of words without a case.

    """
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    first = next(prepositions(sentence), len(sentence))
    for place, (word, tag) in enumerate(sentence):
        if place <= first or seen[place] != tag or tag.startswith("ADP"):
            continue
        if not case_of(tag):
            found[NO_CASE].append(place)
        elif len(tags.get(word, ())) > 1:
            found[BOTH if alone[place] == tag else ONLY].append(place)
    return found


def on_prepositions(looks: Sequence[Look]) -> tuple[Tensor, float]:
    """Return the mean weight on prepositions of each head, (heads,), and if all words had alike."""
    shares = torch.stack([look.weights[:, look.found].sum(-1) for look in looks])
    chance = sum(len(look.found) / len(look.sentence) for look in looks) / len(looks)
    return shares.mean(0), chance


def of_one_head(groups: Mapping[str, Sequence[Look]], head: int, title: str) -> Iterator[str]:
    """Say how much of its weight a head gives to prepositions: a row for each group of words.

    Args:
        groups: one of `KINDS` -> looks; a group without looks is left out.
        head: the head's number, layer after layer.
        title: which head it is, in words.

    """
    yield f"{title}: its weight on prepositions"
    yield f"{'from words':28}{'weight':>8}{'by chance':>11}{'words':>7}"
    for kind, looks in groups.items():
        if looks:
            shares, chance = on_prepositions(looks)
            yield f"{TOLD[kind]:28}{shares[head]:>8.0%}{chance:>11.0%}{len(looks):>7,}"

"""At which prepositions heads look from a word, and whether these can explain the word's case."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from utils.training.told import Known, Tagged, case_of, prepositions

KINDS = ONLY, BOTH, NO_CASE = "only rotary", "both", "no case"  # who gets a word right; or no case
WIDTH = 14  # characters of a column


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

    @property
    def nearest(self) -> int:
        """Return the place of the last preposition before the word, or else of the first."""
        return max((at for at in self.found if at < self.place), default=self.found[0])

    def favourite(self, head: int) -> int:
        """Return the place of the preposition to which a head gives most."""
        return max(self.found, key=lambda at: float(self.weights[head, at]))

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


def of_heads(groups: Mapping[str, Sequence[Look]], n_heads: int) -> Iterator[str]:
    """Say how much weight prepositions get: a row for each head, a column for each group of words.

    Args:
        groups: name -> looks; at least one group holds some.
        n_heads: H, heads of each layer.

    """
    yield "Weight on prepositions, from words that only rotary gets right, that both do,"
    yield "and from words without a case:"
    seen = {name: on_prepositions(looks) for name, looks in groups.items() if looks}
    yield _row("", seen)
    yield _row("words", [f"{len(groups[name]):,}" for name in seen])
    yield _row("by chance", [f"{chance:.0%}" for _, chance in seen.values()])
    for number, shares in enumerate(torch.stack([means for means, _ in seen.values()]).T.tolist()):
        layer, head = divmod(number, n_heads)
        yield _row(f"layer {layer + 1}, head {head + 1}", [f"{share:.0%}" for share in shares])


def _row(title: str, entries: Iterator[str] | Sequence[str] | Mapping[str, object]) -> str:
    return f"{title:18}" + "".join(f"{entry:>{WIDTH}}" for entry in entries)


def of_favourites(groups: Mapping[str, Sequence[Look]], head: int, title: str) -> Iterator[str]:
    """Say how often the preposition that a head gives most has the word's case: its favourite.

    Beside it stand two simpler choices. Only sentences with a choice count, `Look.has_choice`.

    Args:
        groups: name -> looks.
        head: the head's number, layer after layer.
        title: which head it is, in words.

    """
    some = {name: [look for look in looks if look.has_choice] for name, looks in groups.items()}
    some = {name: looks for name, looks in some.items() if looks}
    yield "Sentences in which some prepositions take the word's case and others do not. How often"
    yield f"does each of these take it: the favourite of {title}; the nearest"
    yield "preposition before the word; a blind pick?"
    yield _row("", some)
    yield _row("words", [f"{len(looks):,}" for looks in some.values()])
    choices: dict[str, Callable[[Look], float]] = {
        "the favourite": lambda look: look.favourite(head) in look.fitting,
        "nearest before it": lambda look: look.nearest in look.fitting,
        "a blind pick": lambda look: len(look.fitting) / len(look.found),
    }
    for name, hits in choices.items():
        yield _row(name, [_share([hits(look) for look in looks]) for looks in some.values()])


def _share(hits: Sequence[float]) -> str:
    return f"{sum(hits) / len(hits):.0%}"

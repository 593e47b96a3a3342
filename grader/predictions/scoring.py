"""Points for predictions: levels set by what taggers without a network reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from utils.treebank import loader, taggers

# The share of the errors of the look-up table with endings that must be gone. Measured on
# Czech-CAC's test sentences, models of D = 128 with 2 or 3 layers, 121,000 training words:
WITHOUT_CONTEXT: Final = 0.15  # a per-word network: 1 %; at best in the made-up language: 14 %
ENCODER: Final = 0.30  # sinusoidal positions, words no louder than positions: 31 %
BEST_KNOWN: Final = 0.45  # rotary positions: 48 %; a bidirectional LSTM: 50 %
BEST: Final = 0.60  # neighbours: 55.5 % on Czech, 58.7 % on English, the best seed of all models
NEARLY_PERFECT: Final = 0.99  # of the words, where no tagger is known


@dataclass(frozen=True)
class Level:
    """What is worth a point.

    Attributes:
        message: what the tagger is better than.
        share: the share of correctly tagged words to exceed, from 0 to 1.

    """

    message: str
    share: float


@dataclass(frozen=True)
class Examination:
    """The test sentences and the levels for them.

    Attributes:
        name: the treebank's name.
        test: sentences of (word, tag).
        levels: from the easiest to the hardest, one point each.
        best: what the best known tagger reaches, from 0 to 1. More is marked: the right tags are
            public, and copied ones can be changed here and there.

    """

    name: str
    test: list[list[tuple[str, str]]]
    levels: tuple[Level, ...]
    best: float = NEARLY_PERFECT

    def share(self, tagged: Sequence[Sequence[str]]) -> float:
        """Return the share of words tagged correctly; lists are as long as the sentences."""
        truth = [tag for sentence in self.test for _, tag in sentence]
        given = [tag for tags in tagged for tag in tags]
        return sum(a == b for a, b in zip(truth, given, strict=True)) / len(truth)

    def points(self, share: float) -> int:
        """Return one point for each level that is exceeded."""
        return sum(share > level.share for level in self.levels)


def examine(treebank: loader.Treebank) -> Examination:
    """Set the levels by tagging the test sentences without a network."""
    words = loader.words_of(treebank.test)
    examiner = taggers.Examiner(treebank.train)
    frequent, endings = (
        examiner.score(treebank.test, make(treebank.train).tag_sentences(words)).overall.share
        for make in (taggers.most_frequent_tag, taggers.with_suffixes)
    )
    shares = (WITHOUT_CONTEXT, ENCODER, BEST_KNOWN)
    told = ("anyone who reads single words", "a plain encoder", "all but the best known")
    levels = (
        Level("each word's most frequent tag", frequent),
        Level("the same with endings", endings),
        *(
            Level(says, endings + gone * (1 - endings))
            for says, gone in zip(told, shares, strict=True)
        ),
    )
    best = endings + BEST * (1 - endings)
    return Examination(treebank.name, treebank.test, levels, best)

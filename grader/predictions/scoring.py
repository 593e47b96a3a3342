"""Points for predictions: levels that are set from what taggers without a network reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from utils import baselines, data

# Of the errors that the look-up table with endings makes, the share that must be gone. Measured on
# Czech-CAC's test sentences, models of D = 128 with 2 or 3 layers, 121,000 words to learn from:
WITHOUT_CONTEXT: Final = 0.15  # a per-word network: 1 %; at best in the made-up language: 14 %
ENCODER: Final = 0.30  # sinusoidal positions, words no louder than positions: 31 %
BEST_KNOWN: Final = 0.45  # rotary positions: 48 %; a bidirectional LSTM: 50 %
NEARLY_PERFECT: Final = 0.99  # of the words; the truth is public, and could be copied


@dataclass(frozen=True)
class Level:
    """What is worth a point.

    Attributes:
        says: what the tagger is better than.
        share: of words tagged rightly that must be exceeded, from 0 to 1.

    """

    says: str
    share: float


@dataclass(frozen=True)
class Examination:
    """The test sentences and the levels for them.

    Attributes:
        name: of the treebank.
        test: sentences of (word, tag).
        levels: from the easiest to the hardest, a point each.

    """

    name: str
    test: list[list[tuple[str, str]]]
    levels: tuple[Level, ...]

    def share(self, tagged: Sequence[Sequence[str]]) -> float:
        """Share of the words that are tagged rightly; lists as long as the sentences."""
        truth = [tag for sentence in self.test for _, tag in sentence]
        given = [tag for tags in tagged for tag in tags]
        return sum(a == b for a, b in zip(truth, given, strict=True)) / len(truth)

    def points(self, share: float) -> int:
        """One for each level that is exceeded."""
        return sum(share > level.share for level in self.levels)


def examine(treebank: data.Treebank) -> Examination:
    """Set the levels by tagging the test sentences without a network."""
    words = data.words_of(treebank.test)
    examiner = baselines.Examiner(treebank.train)
    frequent, endings = (
        examiner.score(treebank.test, make(treebank.train).tag_sentences(words)).overall.share
        for make in (baselines.most_frequent_tag, baselines.with_suffixes)
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
    return Examination(treebank.name, treebank.test, levels)

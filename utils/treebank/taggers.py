"""Taggers without a network, and the scores by which every tagger is measured."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from utils.treebank.conllu import Sentence

LONGEST_SUFFIX = 5  # letters


@dataclass(frozen=True)
class LookUp:
    """A tagger that is a dictionary.

    Attributes:
        words: word -> its tag.
        default: tag of all other words.
        suffixes: suffix -> tag, for unknown words; the longest match counts.

    """

    words: dict[str, str]
    default: str
    suffixes: dict[str, str] = field(default_factory=dict)

    def tag(self, word: str) -> str:
        """Return a word's tag, whatever surrounds it."""
        return self.words.get(word) or self._by_suffix(word.lower())

    def tag_sentences(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the tags of sentences of words."""
        return [[self.tag(word) for word in words] for words in sentences]

    def _by_suffix(self, word: str) -> str:
        for length in range(min(len(word), LONGEST_SUFFIX), 0, -1):
            if tag := self.suffixes.get(word[-length:]):
                return tag
        return self.default


def most_frequent_tag(train: Iterable[Sentence]) -> LookUp:
    """Make a tagger that gives each word its most frequent tag in training.

    Other words get the most frequent tag of all.
    """
    words = _most_frequent((word, tag) for sentence in train for word, tag in sentence)
    default = _most_frequent(("", tag) for sentence in train for _, tag in sentence)
    return LookUp(words, default[""])


def with_suffixes(train: Sequence[Sentence]) -> LookUp:
    """Make a tagger that gives unknown words the most frequent tag of words with the same ending.

    Endings have up to 5 letters; punctuation and numbers have endings too. Upper and lower case
    matter for known words, not for endings.
    """
    plain = most_frequent_tag(train)
    pairs = [(word.lower(), tag) for sentence in train for word, tag in sentence]
    suffixes = _most_frequent(
        (word[-length:], tag)
        for word, tag in pairs
        for length in range(1, min(len(word), LONGEST_SUFFIX) + 1)
    )
    return LookUp(plain.words, plain.default, suffixes)


def _most_frequent(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return each key's most frequent tag; ties go to the alphabetically first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, tag in pairs:
        counts[key][tag] += 1
    return {key: min(tags, key=lambda tag: (-tags[tag], tag)) for key, tags in counts.items()}


@dataclass(frozen=True)
class Score:
    """How many words were tagged correctly, and out of how many."""

    right: int
    words: int

    @property
    def share(self) -> float:
        """Return the share from 0 to 1, or nan if there are no words."""
        return self.right / self.words if self.words else float("nan")


@dataclass(frozen=True)
class Scores:
    """What a tagger got right.

    Attributes:
        overall: score on all words.
        ambiguous: score on words that had more than one tag in training.
        unknown: score on words that did not occur in training.

    """

    overall: Score
    ambiguous: Score
    unknown: Score


class Examiner:
    """A scorer of predictions; the training data says which words are ambiguous or unknown.

    Args:
        train: sentences of (word, tag) that taggers learn from.

    """

    def __init__(self, train: Iterable[Sentence]) -> None:
        self.tags: defaultdict[str, set[str]] = defaultdict(set)
        for sentence in train:
            for word, tag in sentence:
                self.tags[word].add(tag)

    def score(self, gold: Sequence[Sentence], predicted: Sequence[Sequence[str]]) -> Scores:
        """Compare tags, sentence by sentence.

        Args:
            gold: sentences of (word, tag).
            predicted: one list of tags for each sentence, of the same length.

        Raises:
            ValueError: there are too many or too few sentences or tags.

        """
        hits = [
            (len(self.tags.get(word, ())), tag == guess)
            for sentence, guesses in zip(gold, predicted, strict=True)
            for (word, tag), guess in zip(sentence, guesses, strict=True)
        ]
        return Scores(
            _count(hit for _, hit in hits),
            _count(hit for n_tags, hit in hits if n_tags > 1),
            _count(hit for n_tags, hit in hits if n_tags == 0),
        )


def _count(hits: Iterable[bool]) -> Score:
    found = list(hits)
    return Score(sum(found), len(found))

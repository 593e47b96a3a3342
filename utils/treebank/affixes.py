"""What a word looks like: its endings, beginning and shape, as ids in addition to the word's own.

Czech marks case at a word's end. A word that occurs once teaches nothing as a whole, but its last
letters occur in many others. A model gets one id for each word of a sentence, its place in the
`lexicon` of all words in the files; two tables map it to a word of the training vocabulary and to
affixes. No tag is used, and nothing is learned about a word that occurs only in dev or test: its
word id is that of the unknown word, and affixes come from the training words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import torch
from torch import Tensor, nn

PADDING, UNKNOWN = 0, 1
SUFFIXES = (2, 3, 4)  # letters
PREFIX = 3
LONG = 3  # letters: a longer word has endings to show
BEGIN = "^"  # put before a word, so that a short word's suffix differs from a long word's

Vocabulary = Mapping[str, int]
BuildVocabulary = Callable[[Sequence[Sequence[str]], int], dict[str, int]]


def affixes(word: str) -> list[str]:
    """Return the suffixes of 2, 3 and 4 letters, the prefix of 3, and the shape.

    `Praha` -> `ha`, `aha`, `raha`, `pra`, `Xx`; `že` -> `že`, `^že`, `^že`, `že`, `x`.
    """
    lower = word.lower()
    return [*((BEGIN + lower)[-length:] for length in SUFFIXES), lower[:PREFIX], shape(word)]


def shape(word: str) -> str:
    """Write X for capitals, x for other letters, 9 for digits, once a run: `ČSSR-1968` -> `X-9`."""
    kinds = (_kind(letter) for letter in word)
    return "".join(kind for kind, _ in groupby(kinds))


def _kind(letter: str) -> str:
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return "9" if letter.isdigit() else letter


def affix_vocabularies(
    sentences: Sequence[Sequence[str]], build_vocab: BuildVocabulary, min_count: int = 2
) -> list[dict[str, int]]:
    """Map the affixes of the training words to ids, each kind from 2 on, after padding and unknown.

    Args:
        sentences: sentences of the training data, words only.
        build_vocab: your function (sentences, min_count) -> ids.
        min_count: rarer affixes count as unknown.

    Returns:
        A vocabulary for each of the kinds that `affixes` returns, in its order.

    """
    known: dict[str, list[str]] = {}
    split = [[known.setdefault(word, affixes(word)) for word in words] for words in sentences]
    n_kinds = len(affixes(""))
    return [
        build_vocab([[parts[kind] for parts in words] for words in split], min_count)
        for kind in range(n_kinds)
    ]


def affix_tables(
    lexicon: Vocabulary, vocab: Vocabulary, kinds: Sequence[Vocabulary]
) -> tuple[Tensor, Tensor]:
    """Look up every word of the lexicon.

    Args:
        lexicon: words -> 0 to L - 1; 0 is padding, 1 any other word.
        vocab: words of the training data -> id.
        kinds: from `affix_vocabularies`.

    Returns:
        word_ids (L,) and features (L, F), where F is the number of kinds. Padding has zeros.

    """
    word_ids = torch.full((len(lexicon),), UNKNOWN)
    features = torch.full((len(lexicon), len(kinds)), UNKNOWN)
    word_ids[PADDING], features[PADDING] = PADDING, PADDING
    for word, index in lexicon.items():
        if index > UNKNOWN:
            word_ids[index] = vocab.get(word, UNKNOWN)
            found = zip(kinds, affixes(word), strict=True)
            features[index] = torch.tensor([kind.get(affix, UNKNOWN) for kind, affix in found])
    return word_ids, features


class WithAffixes(nn.Module):
    """A tagger that takes only ids of the lexicon, and looks up what they stand for.

    Args:
        tagger: (ids (B, T), features (B, T, K), mask) -> logits (B, T, n_tags).
        word_ids: (L,), from `affix_tables`.
        features: (L, F), from `affix_tables`.
        word_dropout: share of the words that are made unknown in training, so that the tagger
            learns to rely on affixes and on the surrounding words.

    """

    word_ids: Tensor
    features: Tensor

    def __init__(
        self, tagger: nn.Module, word_ids: Tensor, features: Tensor, word_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.tagger = tagger
        self.word_dropout = word_dropout
        self.register_buffer("word_ids", word_ids, persistent=False)
        self.register_buffer("features", features, persistent=False)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Any:
        """Map ids of the lexicon (B, T) to logits (B, T, n_tags)."""
        words = self.word_ids[ids]
        if self.training and self.word_dropout > 0:
            dropped = torch.rand(ids.shape, device=ids.device) < self.word_dropout
            words = words.masked_fill(dropped & (ids != PADDING), UNKNOWN)
        return self.tagger(words, self.features[ids], mask)


class Lexicon(dict[str, int]):
    """Numbers for words, and what each number stands for: a word of training, and its affixes.

    Args:
        numbers: word -> number; 0 is padding, 1 any other word.
        vocab: words of the training data -> id.
        kinds: from `affix_vocabularies`.

    """

    def __init__(self, numbers: Vocabulary, vocab: Vocabulary, kinds: Sequence[Vocabulary]) -> None:
        super().__init__(numbers)
        self.vocab, self.kinds = vocab, kinds
        self.word_ids, self.features = affix_tables(self, vocab, kinds)

    @classmethod
    def of(
        cls,
        train: Sequence[Sequence[str]],
        others: Sequence[Sequence[str]],
        build_vocab: BuildVocabulary,
        min_count: int = 2,
        affix_min_count: int = 2,
    ) -> "Lexicon":
        """Give every word a number; what it stands for is learned from training alone.

        Args:
            train: sentences of the training data, words only.
            others: sentences of the other files, words only.
            build_vocab: your function (sentences, min_count) -> ids.
            min_count: rarer words count as unknown.
            affix_min_count: the same for affixes.

        """
        kinds = affix_vocabularies(train, build_vocab, affix_min_count)
        return cls(build_vocab([*train, *others], 1), build_vocab(train, min_count), kinds)

    @property
    def feature_sizes(self) -> list[int]:
        """Return how many ids each kind of feature has."""
        return [len(kind) for kind in self.kinds]

    def of_words(self, words: Sequence[str]) -> "Lexicon":
        """Return a lexicon of these words, which knows of them what this one would."""
        numbers = {"<pad>": PADDING, "<unk>": UNKNOWN}
        for word in words:
            numbers.setdefault(word, len(numbers))
        return Lexicon(numbers, self.vocab, self.kinds)

    def around(self, tagger: nn.Module, word_dropout: float = 0.0) -> WithAffixes:
        """Return the tagger behind a layer that looks up what the numbers stand for."""
        return WithAffixes(tagger, self.word_ids, self.features, word_dropout)

    def examples(self, sentences: Sequence[Sequence[tuple[str, str]]]) -> Iterator[str]:
        """Say what stands for the first longer word that training has, and for the first new one.

        Args:
            sentences: words of the lexicon with their right tags.

        """
        words = [word for sentence in sentences for word, _ in sentence]
        for has in (True, False):
            fit = (word for word in words if len(word) > LONG and (word in self.vocab) is has)
            for word in islice(fit, 1):
                number = self[word]
                parts = dict(zip(affixes(word), self.features[number].tolist(), strict=True))
                own = int(self.word_ids[number])
                yield f"{word}: {number} in the lexicon; word id {own}, features {parts}"

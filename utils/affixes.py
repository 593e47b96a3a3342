"""What a word looks like: its endings, its beginning and its shape, as ids beside the word's own.

Czech marks case at a word's end. A word that occurs once teaches nothing as a whole, but its last
letters occur in many others. A model gets one id for each word of a sentence, its place in the
`lexicon` of all words of the files; two tables say which word of the training vocabulary and which
affixes that is. No tag is looked at, and nothing is learned of a word that occurs in dev or test
alone: its word id is that of the unknown word, and affixes come from the training words.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

PADDING, UNKNOWN = 0, 1
SUFFIXES = (2, 3, 4)  # letters
PREFIX = 3
BEGIN = "^"  # stands before a word, so that a short word's suffix is not a long word's

Vocabulary = Mapping[str, int]
BuildVocabulary = Callable[[Sequence[Sequence[str]], int], dict[str, int]]


def affixes(word: str) -> list[str]:
    """Give the suffixes of 2, 3 and 4 letters, the prefix of 3, and the shape.

    `Praha` -> `ha`, `aha`, `raha`, `pra`, `Xx`; `že` -> `že`, `^že`, `^že`, `že`, `x`.
    """
    lower = word.lower()
    return [*((BEGIN + lower)[-length:] for length in SUFFIXES), lower[:PREFIX], shape(word)]


def shape(word: str) -> str:
    """Write X for capitals, x for other letters, 9 for digits, each once: `ČSSR-1968` -> `X-9`."""
    kinds = (_kind(letter) for letter in word)
    return "".join(kind for kind, _ in groupby(kinds))


def _kind(letter: str) -> str:
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return "9" if letter.isdigit() else letter


def affix_vocabularies(
    sentences: Sequence[Sequence[str]], build_vocab: BuildVocabulary, min_count: int = 2
) -> list[dict[str, int]]:
    """Number the affixes of the training words, each kind from 2 on, after padding and unknown.

    Args:
        sentences: of the training data, words only.
        build_vocab: (sentences, min_count) -> ids; yours.
        min_count: rarer affixes are unknown ones.

    Returns:
        A vocabulary for each of the kinds that `affixes` gives, in its order.

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
    """Look every word of the lexicon up.

    Args:
        lexicon: all words of the files -> 0 to L - 1; 0 is padding, 1 any other word.
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
    """A tagger that takes ids of the lexicon alone, and looks up what they stand for.

    Args:
        tagger: (ids (B, T), features (B, T, F), mask) -> logits (B, T, n_tags).
        word_ids: (L,), from `affix_tables`.
        features: (L, F), from `affix_tables`.
        word_dropout: share of the words that are made unknown in training, so that the tagger
            learns to rely on affixes and on the words around.

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
        """Ids of the lexicon (B, T) -> logits (B, T, n_tags)."""
        words = self.word_ids[ids]
        if self.training and self.word_dropout > 0:
            dropped = torch.rand(ids.shape, device=ids.device) < self.word_dropout
            words = words.masked_fill(dropped & (ids != PADDING), UNKNOWN)
        return self.tagger(words, self.features[ids], mask)

"""Vocabulary: an independent right answer."""

from collections.abc import Sequence

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.training.probes import PROBES


def vocab_oracle(sentences: Sequence[Sequence[str]], min_count: int = 1) -> dict[str, int]:
    """Compute each word's id from the number of words that come before it."""
    words = [word for sentence in sentences for word in sentence]
    counts = {word: words.count(word) for word in words}
    kept = {word: count for word, count in counts.items() if count >= min_count}

    def place(word: str) -> int:
        return sum((-n, other) < (-kept[word], word) for other, n in kept.items())

    return {"<pad>": 0, "<unk>": 1} | {word: 2 + place(word) for word in kept}


EXERCISES = by_id(Exercise(PROBES["build_vocab"], vocab_oracle))

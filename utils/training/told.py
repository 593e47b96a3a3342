"""Sentences of lesson 06 that depend on the data, made from what a run measured."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Tagged = Sequence[tuple[str, str]]  # words with their tags
Known = Mapping[str, AbstractSet[str]]  # the tags that a word had in training
Name = TypeVar("Name")

FEW = 10  # most frequent ambiguous words that are counted apart
NAMED = 4  # of them


def opening(sentences: Sequence[Tagged]) -> Tagged:
    """Return the first sentence of middling length, not shouted, whose words show two cases."""
    for sentence in sentences:
        words = [word for word, _ in sentence]
        shouted = sum(word.isupper() and len(word) > 1 for word in words)
        cases = {tag.partition("|")[2] for _, tag in sentence} - {""}
        if 5 <= len(sentence) <= 12 and not shouted and len(cases) > 1:
            return sentence
    return sentences[0]


def of_kinds(
    sentences: Sequence[Tagged], tags: Known, found: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Say what share of each kind of words is right, the most frequent ambiguous ones apart.

    Args:
        sentences: words with their right tags.
        tags: the tags that a word had in training.
        found: the tags in question.

    """
    pairs = [
        (word, tag == guess)
        for sentence, guesses in zip(sentences, found, strict=True)
        for (word, tag), guess in zip(sentence, guesses, strict=True)
    ]
    counts = Counter(word for word, _ in pairs if len(tags.get(word, ())) > 1)
    few = [word for word, _ in counts.most_common(FEW)]
    names = "unknown words", "words with one tag in training", "other ambiguous words"
    named = " ".join(few[:NAMED]) + " ..." * (len(few) > NAMED)
    often = f"the {len(few)} most frequent ambiguous words ({named})"
    hits: defaultdict[str, list[bool]] = defaultdict(list)
    for word, hit in pairs:
        hits[often if word in few else names[min(len(tags.get(word, ())), 2)]].append(hit)
    for kind in (often, *names[::-1]):
        if hits[kind]:
            right, share = sum(hits[kind]) / len(hits[kind]), len(hits[kind]) / len(pairs)
            yield f"{right:4.0%} of {kind}, {share:.0%} of the text"


def mistaken(gold: Sequence[Sequence[str]], said: Sequence[Sequence[str]], most: int) -> list[str]:
    """Return the right tags of most mistakes, in alphabetical order.

    Args:
        gold: the right tags of each sentence.
        said: the tags that a model gave.
        most: how many tags to return.

    """
    pairs = (pair for both in zip(gold, said, strict=True) for pair in zip(*both, strict=True))
    counts = Counter(right for right, tag in pairs if right != tag)
    return sorted(tag for tag, _ in counts.most_common(most))


def taken_for(
    tags: Sequence[str], gold: Sequence[Sequence[str]], said: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Count how often each tag was taken for which.

    Args:
        tags: the tags in question.
        gold: the right tags of each sentence.
        said: the tags that a model gave.

    Returns:
        A row for each right tag, a column for each tag that was said; the last: any other.

    """
    pairs = Counter(
        pair for both in zip(gold, said, strict=True) for pair in zip(*both, strict=True)
    )
    rows = [[float(pairs[right, tag]) for tag in tags] for right in tags]
    others = [sum(n for (of, _), n in pairs.items() if of == right) for right in tags]
    return [[*row, n - sum(row)] for row, n in zip(rows, others, strict=True)]


def level(shares: Mapping[Name, float], within: float) -> list[Name]:
    """Return who is best, and after it who is so near to it that chance may decide."""
    return sorted(
        (name for name, share in shares.items() if share > max(shares.values()) - within),
        key=lambda name: -shares[name],
    )


def of_faults(right: float, found: Mapping[str, float]) -> str:
    """Say which faults cost more than a point of accuracy.

    Args:
        right: the share right without a fault.
        found: fault -> the share right with it.

    """
    lost = {fault: round(100 * (right - share), 1) for fault, share in found.items()}
    clear = [fault for fault, points in lost.items() if points > 1]
    better = [fault for fault, points in lost.items() if points < 0]
    says = f"more than a point below the right one: {', '.join(clear) or 'none'}"
    return f"{says}; above it: {', '.join(better)}" if better else says

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
    """Return the first sentence of middling length in which a preposition can decide a case."""
    for sentence in sentences:
        words = [word for word, _ in sentence]
        shouted = sum(word.isupper() and len(word) > 1 for word in words)
        if 5 <= len(sentence) <= 12 and not shouted and list(prepositions(sentence)):
            return sentence
    return sentences[0]


def prepositions(sentence: Tagged) -> Iterator[int]:
    """Yield the places of a sentence's prepositions."""
    return (place for place, (_, tag) in enumerate(sentence) if tag.startswith("ADP"))


def case_of(tag: str) -> str:
    """Return the case that a tag names, "" if it names none."""
    return tag.partition("|")[2]


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


def cases_said(
    cases: Sequence[str], gold: Sequence[Sequence[str]], said: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Count how often each case was taken for which.

    Args:
        cases: the cases in question.
        gold: the right tags of each sentence.
        said: the tags that a model gave.

    Returns:
        A row for each right case, a column for each case that was said; the last: none was.

    """
    pairs = Counter(
        (case_of(right), case_of(tag))
        for rights, tags in zip(gold, said, strict=True)
        for right, tag in zip(rights, tags, strict=True)
    )
    return [[float(pairs[right, tag]) for tag in (*cases, "")] for right in cases]


def level(shares: Mapping[Name, float], within: float) -> list[Name]:
    """Return who is best, and after it who is so near to it that chance may decide."""
    return sorted(
        (name for name, share in shares.items() if share > max(shares.values()) - within),
        key=lambda name: -shares[name],
    )


def of_a_head(row: Sequence[float], sentence: Tagged, place: int) -> str:
    """Say which preposition a head looks at, and whether that can explain the word's case.

    Args:
        row: the weights of the word at `place`.
        sentence: words with tags.
        place: of the word whose case is in question.

    """
    found = list(prepositions(sentence))
    seen = max(found, key=lambda at: row[at])
    nearest = max((at for at in found if at < place), default=seen)
    word, preposition = sentence[place][0], sentence[seen][0]
    nearer = f"though {sentence[nearest][0]} stands nearer"
    where = "the nearest preposition before it" if seen == nearest else nearer
    says = f"For {word} the head gives {row[seen]:.0%} to {preposition}, {where}"
    takes, has = (case_of(sentence[at][1]) or "no case" for at in (seen, place))
    if takes == has:
        return f"{says}. {word} and {preposition} are {has}."
    return f"{says}. {preposition} takes {takes}, but {word} is {has}: no explanation, then."


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

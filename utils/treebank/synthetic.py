"""A made-up language in which a word's ending leaves its case open, to replace a real treebank.

A sentence is a phrase without a preposition, which is in the nominative, then a verb, then phrases
that begin with a preposition, then a full stop. A preposition decides the case of everything up to
the next one: of the adjectives and of the noun, which follows up to four adjectives and adverbs.
Endings only narrow the case down to two:

    -o, -e, -ý   nominative or accusative
    -a, -i, -é   genitive or instrumental
    -u, -y, -í   dative or locative

So the last preposition to the left decides, one to five words back, and nothing else does: words,
endings and lengths are drawn without looking at the case. Hence both ceilings are known exactly.

Only `random.Random.random` is used, because it gives the same numbers in every version of Python.
"""

import bisect
import itertools
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from utils.treebank.conllu import Sentence

NOMINATIVE = "Nom"
PAIRS = ((NOMINATIVE, "Acc"), ("Gen", "Ins"), ("Dat", "Loc"))  # cases that share endings
SHARES = {"Acc": 6, "Gen": 4, "Dat": 3, "Loc": 4, "Ins": 3}  # how often prepositions require each
MOST_PHRASES = 3  # with a preposition, 1 to 3 equally often
MOST_BETWEEN = 4  # adjectives and adverbs before a noun, 0 to 4 equally often, both kinds alike
NOUN_ENDINGS, ADJECTIVE_ENDINGS = (("o", "a", "u"), ("e", "i", "y")), ("ý", "é", "í")
N_NOUNS, N_ADJECTIVES, N_ADVERBS, N_VERBS = 900, 300, 80, 150
LEXICON_SEED = 1906


@dataclass(frozen=True)
class Ceilings:
    """The best accuracies possible in the long run, as shares of all words.

    Attributes:
        without_context: for a tagger that sees each word alone.
        with_context: for a tagger that sees the whole sentence.

    """

    without_context: float
    with_context: float


@dataclass(frozen=True)
class Lexicon:
    """The language's words; nouns and adjectives are tuples with one form for each of PAIRS."""

    nouns: list[tuple[str, ...]]
    adjectives: list[tuple[str, ...]]
    adverbs: list[str]
    verbs: list[str]
    prepositions: dict[str, list[str]]


def made_up_sentences(count: int, seed: int) -> list[Sentence]:
    """Draw sentences of (word, tag); the same seed gives the same sentences everywhere."""
    rng = random.Random(seed)
    return [_sentence(rng) for _ in range(count)]


def ceilings() -> Ceilings:
    """Compute both ceilings from the expected numbers of words in a sentence."""
    phrases = {NOMINATIVE: Fraction(1)}
    phrases |= {case: Fraction(share, sum(SHARES.values())) for case, share in SHARES.items()}
    with_preposition = Fraction(1 + MOST_PHRASES, 2)
    phrases |= {case: phrases[case] * with_preposition for case in SHARES}
    of_each_kind = Fraction(MOST_BETWEEN, 4)  # adjectives in a phrase, and as many adverbs
    cased = 1 + of_each_kind
    # The verb, the full stop, prepositions and adverbs always have the same tag.
    plain = 2 + with_preposition + of_each_kind * (1 + with_preposition)
    total = plain + cased * (1 + with_preposition)
    guessed = sum(max(phrases[case] for case in pair) for pair in PAIRS) * cased
    return Ceilings(float((plain + guessed) / total), 1.0)


@cache
def lexicon() -> Lexicon:
    """Make up the words; no two are spelled alike."""
    stems = iter(_stems(N_NOUNS + N_ADJECTIVES + N_ADVERBS + N_VERBS + 2 * len(SHARES)))

    def take(count: int) -> list[str]:
        return list(itertools.islice(stems, count))

    return Lexicon(
        [
            tuple(stem + ending for ending in NOUN_ENDINGS[number % 2])
            for number, stem in enumerate(take(N_NOUNS))
        ],
        [tuple(stem + ending for ending in ADJECTIVE_ENDINGS) for stem in take(N_ADJECTIVES)],
        [stem + "ě" for stem in take(N_ADVERBS)],
        [stem + "al" for stem in take(N_VERBS)],
        {case: take(2) for case in SHARES},
    )


def _stems(count: int) -> list[str]:
    """Make stems of one to three syllables and a consonant.

    The last ones, for prepositions, have a vowel in place of the syllables.
    """
    rng = random.Random(LEXICON_SEED)
    consonants, vowels = "bdghjklmnprstvz", "aeiou"
    stems: dict[str, None] = {}
    while len(stems) < count:
        syllables = 1 + _below(rng, 3) if len(stems) < count - 2 * len(SHARES) else 0
        letters = [consonants, vowels] * syllables + ([] if syllables else [vowels]) + [consonants]
        stems["".join(kind[_below(rng, len(kind))] for kind in letters)] = None
    return list(stems)


def _sentence(rng: random.Random) -> Sentence:
    words = lexicon()
    sentence = _phrase(rng, NOMINATIVE)
    sentence.append((words.verbs[_rank(rng, N_VERBS)], "VERB"))
    for _ in range(1 + _below(rng, MOST_PHRASES)):
        case = _draw_case(rng)
        prepositions = words.prepositions[case]
        sentence.append((prepositions[_below(rng, len(prepositions))], f"ADP|{case}"))
        sentence += _phrase(rng, case)
    sentence.append((".", "PUNCT"))
    return sentence


def _phrase(rng: random.Random, case: str) -> Sentence:
    """Draw adjectives and adverbs, then a noun, in this case."""
    words = lexicon()
    phrase: Sentence = []
    form = next(number for number, pair in enumerate(PAIRS) if case in pair)
    for _ in range(_below(rng, MOST_BETWEEN + 1)):
        if _below(rng, 2):
            phrase.append((words.adjectives[_rank(rng, N_ADJECTIVES)][form], f"ADJ|{case}"))
        else:
            phrase.append((words.adverbs[_rank(rng, N_ADVERBS)], "ADV"))
    phrase.append((words.nouns[_rank(rng, N_NOUNS)][form], f"NOUN|{case}"))
    return phrase


def _draw_case(rng: random.Random) -> str:
    number = _below(rng, sum(SHARES.values()))
    return list(SHARES)[bisect.bisect(list(itertools.accumulate(SHARES.values())), number)]


def _rank(rng: random.Random, count: int) -> int:
    """Draw a word's rank as languages do: rank r about in proportion to 1 / (r + 10)."""
    ranks = _ranks(count)
    return bisect.bisect(ranks, rng.random() * ranks[-1])


@cache
def _ranks(count: int) -> list[float]:
    return list(itertools.accumulate(1 / (rank + 10) for rank in range(count)))


def _below(rng: random.Random, end: int) -> int:
    return int(rng.random() * end)

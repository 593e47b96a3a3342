"""A made-up language in which a word's ending leaves its case open, to replace a real treebank.

A sentence is a phrase in the nominative, a verb, phrases that begin with a preposition, and a full
stop. A phrase has adjectives and adverbs, and ends with its noun. A preposition decides the case of
its phrase, up to that noun. Endings only narrow the case down to two:

    -o, -e, -ý   nominative or accusative
    -a, -i, -é   genitive or instrumental
    -u, -y, -í   dative or locative

Two things make this harder than a look at the last preposition. Both are Czech's.

- A phrase may hold another one before its noun ("the to-children-dear house"). Behind the inner
  noun, the outer preposition decides again.
- Some prepositions take either of two cases. Which one, the sentence's verb decides, as verbs of
  motion and of rest do in Czech. A verb's form does not show its kind.

Nothing else decides: words, endings and lengths are drawn without looking at the case. Hence both
ceilings are known exactly.

Only `random.Random.random` is used, because it gives the same numbers in every version of Python.
"""

import bisect
import itertools
import random
from dataclasses import dataclass
from functools import cache

from utils.treebank.conllu import Sentence

NOMINATIVE = "Nom"
PAIRS = ((NOMINATIVE, "Acc"), ("Gen", "Ins"), ("Dat", "Loc"))  # cases that share endings
SHARES = {"Acc": 6, "Gen": 4, "Dat": 3, "Loc": 4, "Ins": 3}  # how often prepositions require each
MOST_PHRASES = 3  # with a preposition, 1 to 3 equally often
MOST_BETWEEN = 3  # adjectives and adverbs before a noun, 0 to 3 equally often, both kinds alike
INNER = 0.4  # share of the phrases that hold another one
MOST_BEHIND = 2  # adjectives and adverbs between the inner and the outer noun, 0 to 2
BY_VERB = 0.4  # share of the phrases whose preposition takes two cases
TWO_FACED = PAIRS[1:]  # the cases between which the verb decides: endings do not show which
N_PREPOSITIONS, N_TWO_FACED = 4, 2  # for each case, and for each of those pairs
NOUN_ENDINGS, ADJECTIVE_ENDINGS = (("o", "a", "u"), ("e", "i", "y")), ("ý", "é", "í")
N_NOUNS, N_ADJECTIVES, N_ADVERBS, N_VERBS = 900, 300, 80, 60
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
    two_faced: dict[tuple[str, str], list[str]]


def made_up_sentences(count: int, seed: int) -> list[Sentence]:
    """Draw sentences of (word, tag); the same seed gives the same sentences everywhere."""
    rng = random.Random(seed)
    return [_sentence(rng) for _ in range(count)]


def ceilings() -> Ceilings:
    """Compute both ceilings from the expected numbers of words in a sentence."""
    outer = (1 + MOST_PHRASES) / 2  # with a preposition; one more has none
    inner = INNER * (1 + outer)
    prepositions = outer + inner
    chances = _chances()
    cased_in_inner = 1 + MOST_BETWEEN / 4  # half of the words before a noun are adjectives
    cased_in_outer = cased_in_inner + INNER * MOST_BEHIND / 4
    cased = {case: chance * (outer * cased_in_outer + inner * cased_in_inner)
             for case, chance in chances.items()}  # fmt: skip
    cased[NOMINATIVE] = cased_in_outer
    adverbs = sum(cased.values()) - (1 + outer + inner)
    # The verb, the full stop, adverbs and most prepositions always have the same tag.
    total = 2 + adverbs + prepositions + sum(cased.values())
    lost = sum(min(cased[case] for case in pair) for pair in PAIRS)
    lost += prepositions * BY_VERB * min(_faces())
    return Ceilings((total - lost) / total, 1.0)


def _chances() -> dict[str, float]:
    """Compute how likely a preposition is to require each case."""
    by_verb = {
        case: face / len(TWO_FACED)
        for pair in TWO_FACED
        for case, face in zip(pair, _faces(), strict=True)
    }
    fixed = {case: share / sum(SHARES.values()) for case, share in SHARES.items()}
    return {c: (1 - BY_VERB) * fixed[c] + BY_VERB * by_verb.get(c, 0.0) for c in fixed}


def _faces() -> tuple[float, float]:
    """Compute how likely a verb is to be of either kind."""
    ranks = _ranks(N_VERBS)
    first = sum(ranks[n] - (ranks[n - 1] if n else 0.0) for n in range(0, N_VERBS, 2)) / ranks[-1]
    return first, 1 - first


@cache
def lexicon() -> Lexicon:
    """Make up the words; no two are spelled alike."""
    long = N_NOUNS + N_ADJECTIVES + N_ADVERBS + N_VERBS
    stems = iter(_stems(long, N_PREPOSITIONS * len(SHARES) + N_TWO_FACED * len(TWO_FACED)))

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
        {case: take(N_PREPOSITIONS) for case in SHARES},
        {pair: take(N_TWO_FACED) for pair in TWO_FACED},
    )


def _stems(long: int, short: int) -> list[str]:
    """Make stems of one to three syllables and a consonant, then some of a vowel and a consonant.

    The short ones are for prepositions.
    """
    rng = random.Random(LEXICON_SEED)
    consonants, vowels = "bdghjklmnprstvz", "aeiou"
    stems: dict[str, None] = {}
    while len(stems) < long + short:
        syllables = 1 + _below(rng, 3) if len(stems) < long else 0
        letters = [consonants, vowels] * syllables + ([] if syllables else [vowels]) + [consonants]
        stems["".join(kind[_below(rng, len(kind))] for kind in letters)] = None
    return list(stems)


def _sentence(rng: random.Random) -> Sentence:
    verb = _rank(rng, N_VERBS)
    sentence = _phrase(rng, NOMINATIVE, verb)
    sentence.append((lexicon().verbs[verb], "VERB"))
    for _ in range(1 + _below(rng, MOST_PHRASES)):
        sentence += _with_preposition(rng, verb)
    sentence.append((".", "PUNCT"))
    return sentence


def _with_preposition(rng: random.Random, verb: int, *, inner: bool = False) -> Sentence:
    """Draw a preposition, whose case may be the verb's to decide, and its phrase."""
    if rng.random() < BY_VERB:
        pair = TWO_FACED[_below(rng, len(TWO_FACED))]
        case, prepositions = pair[verb % 2], lexicon().two_faced[pair]
    else:
        case = _draw_case(rng)
        prepositions = lexicon().prepositions[case]
    preposition = prepositions[_below(rng, len(prepositions))], f"ADP|{case}"
    return [preposition, *_phrase(rng, case, verb, inner=inner)]


def _phrase(rng: random.Random, case: str, verb: int, *, inner: bool = False) -> Sentence:
    """Draw adjectives and adverbs, perhaps a phrase between them, and a noun, in this case."""
    form = next(number for number, pair in enumerate(PAIRS) if case in pair)
    phrase = _before_noun(rng, MOST_BETWEEN, case, form)
    if not inner and rng.random() < INNER:
        phrase += _with_preposition(rng, verb, inner=True)
        phrase += _before_noun(rng, MOST_BEHIND, case, form)
    phrase.append((lexicon().nouns[_rank(rng, N_NOUNS)][form], f"NOUN|{case}"))
    return phrase


def _before_noun(rng: random.Random, most: int, case: str, form: int) -> Sentence:
    """Draw adjectives in a case, and adverbs."""
    words, drawn = lexicon(), []
    for _ in range(_below(rng, most + 1)):
        if _below(rng, 2):
            drawn.append((words.adjectives[_rank(rng, N_ADJECTIVES)][form], f"ADJ|{case}"))
        else:
            drawn.append((words.adverbs[_rank(rng, N_ADVERBS)], "ADV"))
    return drawn


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

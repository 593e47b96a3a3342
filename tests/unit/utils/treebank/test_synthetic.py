"""The made-up language: what it promises, checked from its sentences alone."""

import random
from collections import Counter, defaultdict
from itertools import chain

import pytest

from utils.treebank import synthetic
from utils.treebank.synthetic import ceilings, lexicon, made_up_sentences


@pytest.fixture(scope="module")
def sample():
    return made_up_sentences(12_000, seed=77)


def last_preposition_rule(sentence):
    """Tag cased words by the last preposition to the left: the rule, without the generator."""
    case, guesses = "Nom", []
    for _, tag in sentence:
        part, _, own = tag.partition("|")
        if part == "ADP":
            case = own
        guesses.append(f"{part}|{case}" if own else part)
    return guesses


def test_the_last_preposition_to_the_left_decides_every_case(sample):
    for sentence in sample[:2000]:
        assert last_preposition_rule(sentence) == [tag for _, tag in sentence]


def test_prepositions_and_all_words_without_case_always_have_one_tag(sample):
    tags = defaultdict(set)
    for sentence in sample:
        for word, tag in sentence:
            tags[word].add(tag)
    for found in tags.values():
        kinds = {tag.split("|")[0] for tag in found}
        assert len(kinds) == 1
        assert len(found) == 1 or kinds <= {"NOUN", "ADJ"}


def test_every_ending_leaves_two_cases_open(sample):
    cases = defaultdict(set)
    for sentence in sample:
        for word, tag in sentence:
            if tag.startswith(("NOUN", "ADJ")):
                cases[word[-1]].add(tag.split("|")[1])
    assert set(cases) == set("oeýaiéuyí")
    assert {frozenset(found) for found in cases.values()} == {
        frozenset({"Nom", "Acc"}),
        frozenset({"Gen", "Ins"}),
        frozenset({"Dat", "Loc"}),
    }


def test_a_noun_stands_one_to_five_words_after_its_preposition(sample):
    distances = Counter()
    for sentence in sample:
        preposition = None
        for place, (_, tag) in enumerate(sentence):
            if tag.startswith("ADP"):
                preposition = place
            elif tag.startswith("NOUN") and preposition is not None:
                distances[place - preposition] += 1
    assert set(distances) == {1, 2, 3, 4, 5}
    assert max(distances.values()) < 1.1 * min(distances.values())  # each as often


def test_the_ceiling_without_context_is_what_the_best_guess_for_each_ending_reaches(sample):
    counts = defaultdict(Counter)
    for sentence in sample:
        for word, tag in sentence:
            cased = tag.startswith(("NOUN", "ADJ"))
            counts[word[-1] if cased else word][tag] += 1
    right = sum(max(tags.values()) for tags in counts.values())
    total = sum(map(len, sample))
    assert right / total == pytest.approx(ceilings().without_context, abs=0.003)


def test_no_two_words_are_written_alike():
    words = lexicon()
    forms = [form for kind in (words.nouns, words.adjectives) for stem in kind for form in stem]
    forms += [*words.adverbs, *words.verbs, *chain(*words.prepositions.values())]
    assert len(set(forms)) == len(forms)


def test_the_same_seed_gives_the_same_sentences_and_another_does_not():
    assert made_up_sentences(5, seed=3) == made_up_sentences(5, seed=3)
    assert made_up_sentences(5, seed=3) != made_up_sentences(5, seed=4)
    assert made_up_sentences(9, seed=3)[:5] == made_up_sentences(5, seed=3)


def test_only_the_method_that_python_keeps_stable_is_drawn_from(monkeypatch):
    python_random = random.Random

    class OnlyRandom:
        def __init__(self, seed):
            self.random = python_random(seed).random

    before = made_up_sentences(20, seed=5)
    monkeypatch.setattr(synthetic.random, "Random", OnlyRandom)
    lexicon.cache_clear()
    assert made_up_sentences(20, seed=5) == before


def test_test_sentences_have_unknown_words(sample):
    known = {word for sentence in sample[:1500] for word, _ in sentence}
    new = [word not in known for sentence in sample[2000:3000] for word, _ in sentence]
    assert 0.02 < sum(new) / len(new) < 0.2

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


def by_open_phrases(sentence):
    """Tag cased words by the innermost phrase that has no noun yet: the rule, not the generator."""
    open_cases, guesses = ["Nom"], []
    for _, tag in sentence:
        part, _, own = tag.partition("|")
        if part == "ADP":
            open_cases.append(own)
        guesses.append(f"{part}|{open_cases[-1]}" if own else part)
        if part == "NOUN":
            open_cases.pop()
    return guesses


def by_last_preposition(sentence):
    case, guesses = "Nom", []
    for _, tag in sentence:
        part, _, own = tag.partition("|")
        case = own if part == "ADP" else case
        guesses.append(f"{part}|{case}" if own else part)
    return guesses


def test_the_innermost_phrase_without_its_noun_decides_every_case(sample):
    for sentence in sample[:2000]:
        assert by_open_phrases(sentence) == [tag for _, tag in sentence]


def test_the_last_preposition_to_the_left_is_not_enough(sample):
    pairs = [
        (tag, guess)
        for sentence in sample
        for (_, tag), guess in zip(sentence, by_last_preposition(sentence), strict=True)
        if tag.startswith(("NOUN", "ADJ"))
    ]
    assert 0.7 < sum(tag == guess for tag, guess in pairs) / len(pairs) < 0.9


def test_the_verb_decides_between_the_cases_of_a_preposition_that_takes_two(sample):
    cases, kinds = defaultdict(set), defaultdict(set)
    for sentence in sample:
        verb = next(word for word, tag in sentence if tag == "VERB")
        for word, tag in sentence:
            if tag.startswith("ADP"):
                cases[word].add(tag)
                kinds[verb, word].add(tag in {"ADP|Gen", "ADP|Dat"})
    two_faced = {word for word, found in cases.items() if len(found) == 2}
    assert two_faced == set(chain(*lexicon().two_faced.values()))
    of_verb = defaultdict(set)
    for (verb, word), found in kinds.items():
        if word in two_faced:
            of_verb[verb] |= found
    assert set(of_verb) == set(lexicon().verbs)
    assert all(len(found) == 1 for found in of_verb.values())  # whatever the preposition
    assert {True, False} == set().union(*of_verb.values())


def test_prepositions_of_one_case_and_all_words_without_case_always_have_one_tag(sample):
    tags = defaultdict(set)
    for sentence in sample:
        for word, tag in sentence:
            tags[word].add(tag)
    two_faced = set(chain(*lexicon().two_faced.values()))
    for word, found in tags.items():
        kinds = {tag.split("|")[0] for tag in found}
        assert len(kinds) == 1
        assert len(found) == 1 or kinds <= {"NOUN", "ADJ"} or word in two_faced


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


def test_a_noun_stands_up_to_ten_words_after_its_preposition(sample):
    distances = Counter()
    for sentence in sample:
        places = []
        for place, (_, tag) in enumerate(sentence):
            if tag.startswith("ADP"):
                places.append(place)
            elif tag.startswith("NOUN") and places:
                distances[place - places.pop()] += 1
    assert set(distances) == set(range(1, 12))
    assert sum(distances[d] for d in range(6, 12)) > 0.1 * distances.total()


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

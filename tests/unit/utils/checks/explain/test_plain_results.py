"""What is said of lists of words and of facts that are not as asked."""

import numpy as np
import pytest

from utils.checks.explain.seen.plain_results import of_facts, of_renamed, of_wrapped
from utils.checks.observation import describe

TAGS = [["NOUN", "VERB", "NOUN"], ["ADV"], []]
WORDS = [["dog", "bites", "man"], ["so"], []]
PAIRS = [[[w, t] for w, t in zip(*both, strict=True)] for both in zip(WORDS, TAGS, strict=True)]


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (PAIRS, "of ['dog', 'NOUN'], only 'NOUN' is asked for"),
        ([[f"{w}/{t}" for w, t in row] for row in PAIRS], "of 'dog/NOUN', only 'NOUN'"),
        ([[f"{t}({w})" for w, t in row] for row in PAIRS], "of 'NOUN(dog)', only 'NOUN'"),
        ([" ".join(tags) for tags in TAGS], "one string; a list of strings"),
        ([dict(row) for row in PAIRS], "a dictionary"),
    ],
)
def test_what_holds_the_right_words_and_more_is_told_so(got, said):
    (sentence,) = of_wrapped("tags", TAGS, got)
    assert said in sentence


@pytest.mark.parametrize(
    "got",
    [
        TAGS,
        [["VERB", "NOUN", "NOUN"], ["ADV"], []],
        [["NOUN", "VERB"], ["ADV"], []],
        [["dog/NOUN", "VERB", "NOUN"], ["X"], []],
        "NOUN VERB",
        [[0, 1, 0], [2], []],
        [np.zeros(3), np.zeros(1), np.zeros(0)],
    ],
)
def test_other_lists_are_not(got):
    assert not list(of_wrapped("tags", TAGS, got))


def renamed(**names):
    return [[names.get(tag, tag) for tag in row] for row in TAGS]


def test_words_that_stand_for_one_another_throughout_are_told():
    (sentence,) = of_renamed("tags", TAGS, renamed(NOUN="VERB", VERB="NOUN"))
    assert "every 'NOUN' has become 'VERB', and other words likewise" in sentence


@pytest.mark.parametrize(
    "got",
    [
        TAGS,
        renamed(NOUN="ADV", ADV="ADV"),
        renamed(ADV="X"),
        [["VERB", "NOUN", "NOUN"], ["ADV"], []],
        [*renamed(NOUN="VERB", VERB="NOUN"), ["NOUN"]],
        [[0, 1, 0], [2], []],
        "VERB NOUN",
    ],
    ids=["right", "two in one", "one alone", "not throughout", "too many", "numbers", "a string"],
)
def test_other_words_are_not_said_to_be_renamed(got):
    assert not list(of_renamed("tags", TAGS, got))


def test_facts_that_hold_beside_the_one_shown_are_named():
    right = {"one is lost": False, "one is there twice": False, "the lengths stay": True}
    seen = {"one is lost": "the longest", "one is there twice": True, "the lengths stay": False}
    assert list(of_facts("one is lost", right, seen)) == [
        "This holds too, but should not: one is there twice."
    ]


def test_a_dictionary_is_described_by_its_keys():
    assert describe({0: "a"}) == "a dictionary whose keys are of type int"

"""Taggers without a network, and scores worked out by hand."""

import math

import pytest

from utils.treebank.taggers import Examiner, Score, most_frequent_tag, with_suffixes

TRAIN = [
    [("hrad", "N|Nom"), ("je", "V"), ("starý", "A|Nom"), (".", "P")],
    [("vidím", "V"), ("hrad", "N|Acc"), (".", "P")],
    [("hrad", "N|Acc"), ("vidím", "V"), ("rád", "A|Nom"), (".", "P"), (".", "P")],
    [("Je", "V"), ("pod", "ADP"), ("hradem", "N|Ins"), ("stromem", "N|Ins")],
]


def test_a_word_gets_its_most_frequent_tag_and_any_other_the_most_frequent_of_all():
    # V and P occur 4 times each: the alphabet decides for P.
    found = most_frequent_tag(TRAIN).tag_sentences([["hrad", "je", "lesem"], []])
    assert found == [["N|Acc", "V", "P"], []]


def test_of_equally_frequent_tags_the_first_by_the_alphabet_is_taken():
    for order in (("B", "A"), ("A", "B")):
        assert most_frequent_tag([[("x", tag) for tag in order]]).tag("x") == "A"


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("hrad", "N|Acc"),  # known: its own tag, not its ending's
        ("HRADEM", "N|Ins"),  # capitals hide the word, not the ending
        ("domem", "N|Ins"),  # as hradem, stromem: -em
        ("mladý", "A|Nom"),  # as starý: -ý
        ("vím", "V"),  # as vidím: -ím
        ("xyz", "P"),  # no such ending
    ],
)
def test_an_unknown_word_gets_the_tag_of_the_longest_ending_known(word, tag):
    assert with_suffixes(TRAIN).tag(word) == tag


def test_the_longest_ending_wins_over_a_more_frequent_shorter_one():
    train = [[("ostrova", "N|Gen"), ("nova", "A|Nom"), ("slova", "A|Nom"), ("ba", "A|Nom")]]
    assert with_suffixes(train).tag("trova") == "N|Gen"
    assert with_suffixes(train).tag("hlova") == "A|Nom"


def test_scores_count_all_ambiguous_and_unknown_words():
    gold = [[("hrad", "N|Nom"), ("je", "V")], [("les", "N|Nom"), ("hrad", "N|Acc"), ("!", "P")]]
    guess = [["N|Acc", "V"], ["N|Nom", "N|Acc", "X"]]
    scores = Examiner(TRAIN).score(gold, guess)
    assert scores.overall == Score(3, 5)
    assert scores.ambiguous == Score(1, 2)  # hrad, twice
    assert scores.unknown == Score(1, 2)  # les and !
    assert scores.overall.share == pytest.approx(0.6)


def test_a_share_of_no_words_is_not_a_number():
    scores = Examiner(TRAIN).score([[("je", "V")]], [["V"]])
    assert scores.overall.share == 1.0
    assert math.isnan(scores.unknown.share)


@pytest.mark.parametrize("guess", [[], [["V", "V"]], [["V"], ["V"]], [[]]])
def test_more_or_fewer_tags_than_words_are_refused(guess):
    with pytest.raises(ValueError, match=r"zip\(\)"):
        Examiner(TRAIN).score([[("je", "V")]], guess)

"""What is said of a head's looks follows from its weights and the sentence's tags."""

import pytest
import torch

from utils.training.looks import Look, by_kind, of_one_head, on_prepositions

WORDS = ["na", "jaře", "u", "lesa", "vidím", "hrady", "."]
TAGS = ["ADP|Loc", "NOUN|Loc", "ADP|Gen", "NOUN|Gen", "VERB", "NOUN|Acc", "PUNCT"]
SENTENCE = list(zip(WORDS, TAGS, strict=True))
AT_NA, AT_U = [0.5, 0.1, 0.2, 0.2, 0, 0, 0], [0.1, 0, 0.9, 0, 0, 0, 0]


def look(place: int) -> Look:
    return Look(SENTENCE, place, torch.tensor([AT_NA, AT_U]))


def test_a_preposition_fits_if_it_takes_the_words_case():
    assert look(3).found == [0, 2]
    assert look(3).fitting == [2]


@pytest.mark.parametrize(("place", "choice"), [(1, True), (3, True), (4, False), (5, False)])
def test_a_word_has_a_choice_if_some_prepositions_take_its_case_and_others_do_not(place, choice):
    assert look(place).has_choice is choice


def test_a_word_without_a_case_has_no_choice_even_if_a_preposition_takes_none():
    sentence = [("na", "ADP"), ("u", "ADP|Gen"), ("vidím", "VERB")]
    assert not Look(sentence, 2, torch.tensor([[0.5, 0.5, 0.0]])).has_choice


def test_weight_on_prepositions_is_a_mean_over_words_beside_what_all_words_alike_would_give():
    means, chance = on_prepositions([look(1), look(3)])
    assert means.tolist() == pytest.approx([0.7, 1.0])
    assert chance == pytest.approx(2 / 7)


def test_the_table_of_a_head_has_a_row_for_each_group_that_has_words():
    groups = {"only rotary": [look(1), look(3)], "both": [], "no case": [look(4)]}
    title, _, *rows = of_one_head(groups, head=0, title="layer 1, head 1")
    assert title.startswith("layer 1, head 1:")
    assert [row.split() for row in rows] == [
        ["that", "only", "rotary", "gets", "right", "70%", "29%", "2"],
        ["without", "a", "case", "70%", "29%", "1"],
    ]


def test_words_are_sorted_by_who_gets_them_right_and_whether_they_have_a_case():
    both = {"N|Gen", "N|Loc"}
    tags = {"na": {"ADP|Loc"}, "jaře": {TAGS[1], "N|Dat"}, "lesa": both, "hrady": {"NOUN|Acc"}}
    alone = [*TAGS[:3], "NOUN|Dat", *TAGS[4:]]
    assert by_kind(SENTENCE, alone, TAGS, tags) == {
        "only rotary": [3],
        "both": [1],
        "no case": [4, 6],
    }
    wrong = ["?"] * len(TAGS)
    assert not any(by_kind(SENTENCE, alone, wrong, tags).values())
    assert not any(by_kind(SENTENCE[4:], TAGS[4:], TAGS[4:], tags).values())

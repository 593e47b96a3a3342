"""What is said of a head's looks follows from its weights and the sentence's tags."""

import pytest
import torch

from utils.training.looks import BOTH, FAR, ONE_TAG, ONLY, Look, by_distance, by_kind, most_before

WORDS = ["I", "saw", "her", "duck", "."]
TAGS = ["PRON|Nom", "VERB", "PRON|Gen", "NOUN", "PUNCT"]
SENTENCE = list(zip(WORDS, TAGS, strict=True))
BEFORE, ITSELF = [0.1, 0.1, 0.7, 0.1, 0], [0, 0, 0.2, 0.8, 0]  # seen from duck, by two heads


def look(place: int) -> Look:
    return Look(SENTENCE, place, torch.tensor([BEFORE, ITSELF]))


def test_words_are_sorted_by_who_gets_them_right_and_how_many_tags_they_had():
    tags = {"I": {TAGS[0]}, "saw": {"VERB", "NOUN"}, "her": {TAGS[2], "PRON|Acc"}, ".": {"PUNCT"}}
    alone = ["PRON|Nom", "VERB", "PRON|Acc", "VERB", "PUNCT"]
    assert by_kind(SENTENCE, alone, TAGS, tags) == {ONLY: [2], BOTH: [1], ONE_TAG: [0, 4]}
    assert not any(by_kind(SENTENCE, alone, ["?"] * len(TAGS), tags).values())


def test_weights_are_told_by_the_distance_from_the_word():
    before, itself = by_distance([look(3)])
    assert before[FAR - 3 :].tolist() == pytest.approx([*BEFORE, *[0] * (FAR - 1)])
    assert itself[FAR] == pytest.approx(0.8)


def test_a_word_at_the_end_of_its_sentence_does_not_count_where_none_stands():
    ends = Look(SENTENCE, 4, torch.tensor([[0.0, 0, 0, 0.4, 0.6]]))
    (found,) = by_distance([ends, Look(SENTENCE, 0, torch.tensor([[0.2, 0.8, 0, 0, 0]]))])
    assert found[FAR - 1] == pytest.approx(0.4)
    assert found[FAR] == pytest.approx(0.4)  # the mean of 0.6 and 0.2
    assert found[FAR + 1] == pytest.approx(0.8)


def test_the_head_is_chosen_where_only_rotary_is_right():
    others = Look(SENTENCE, 3, torch.tensor([ITSELF, BEFORE]))
    assert most_before({ONLY: [look(3)], BOTH: [others]}) == 0
    assert most_before({ONLY: [others], BOTH: [look(3)]}) == 1

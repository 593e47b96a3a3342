"""What lesson 06 says of a run follows from what the run measured."""

from utils.training import told

WORDS, TAGS = ["Vidím", "hrad", "u", "lesa", "."], ["VERB", "N|Acc", "ADP|Gen", "N|Gen", "P"]
AFTER = list(zip(WORDS, TAGS, strict=True))


def test_a_lesson_opens_with_a_sentence_that_shows_two_cases_and_does_not_shout():
    heading = [("ČÁST", "NOUN|Nom"), ("PRVNÍ", "ADJ|Loc"), ("O", "ADP"), ("TOM", "X"), ("I", "X")]
    one_case = [(word, tag.replace("Acc", "Gen")) for word, tag in AFTER]
    assert told.opening([heading, one_case, AFTER]) == AFTER
    assert told.opening([heading]) == heading


def test_a_fault_that_costs_just_a_point_does_not_cost_more():
    found = {"scale": 0.79, "mask": 0.70, "heads": 0.807}
    said = told.of_faults(0.80, found)
    assert said == "more than a point below the right one: mask; above it: heads"


def test_kinds_of_words_are_told_apart():
    sentences = [[("na", "ADP|Acc"), ("hrady", "NOUN|Acc"), ("!", "PUNCT")], [("na", "ADP|Loc")]]
    tags = {"na": {"ADP|Acc", "ADP|Loc"}, "!": {"PUNCT"}}
    found = [["ADP|Acc", "NOUN|Nom", "PUNCT"], ["ADP|Acc"]]
    assert list(told.of_kinds(sentences, tags, found)) == [
        " 50% of the 1 most frequent ambiguous words (na), 50% of the text",
        "100% of words with one tag in training, 25% of the text",
        "  0% of unknown words, 25% of the text",
    ]


def test_who_is_within_the_margin_of_the_best_is_level_with_it_and_the_best_comes_first():
    shares = {"far": 0.9, "near": 0.985, "best": 0.989, "at the margin": 0.979}
    assert told.level(shares, 0.01) == ["best", "near"]


def test_the_tags_of_most_mistakes_are_named_in_alphabetical_order():
    gold = [["VERB", "NOUN", "NOUN"], ["ADP", "ADP", "ADP", "X"]]
    said = [["NOUN", "VERB", "VERB"], ["PART", "PART", "PART", "X"]]
    assert told.mistaken(gold, said, 2) == ["ADP", "NOUN"]
    assert told.mistaken(gold, said, 9) == ["ADP", "NOUN", "VERB"]


def test_tags_are_counted_by_what_was_said_for_them_and_the_last_column_is_any_other():
    gold, said = [["N|Gen", "N|Acc", "P"], ["N|Gen"]], [["N|Acc", "N|Acc", "N|Gen"], ["P"]]
    assert told.taken_for(["N|Acc", "N|Gen"], gold, said) == [[1, 0, 0], [1, 0, 1]]
    assert told.taken_for(["N|Gen"], [["N|Gen"]], [["ADV"]]) == [[0, 1]]

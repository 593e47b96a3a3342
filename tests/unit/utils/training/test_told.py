"""What lesson 06 says of a run follows from what the run measured."""

from utils.training import told

WORDS, TAGS = ["Vidím", "hrad", "u", "lesa", "."], ["VERB", "N|Acc", "ADP|Gen", "N|Gen", "P"]
AFTER = list(zip(WORDS, TAGS, strict=True))


def test_a_lesson_opens_with_a_sentence_in_which_a_preposition_can_be_seen():
    heading = [("ČÁST", "NOUN|Nom"), ("PRVNÍ", "ADJ|Loc"), ("O", "ADP"), ("TOM", "X"), ("I", "X")]
    assert told.opening([heading, AFTER]) == AFTER
    assert told.opening([heading]) == heading


def test_a_head_explains_a_case_only_if_the_preposition_that_it_looks_at_takes_it():
    longer = [("na", "ADP|Loc"), ("jaře", "NOUN|Loc"), *AFTER]
    at_u, at_na = [0, 0, 0, 0, 0.9, 0.1, 0], [0.8, 0, 0, 0, 0.1, 0.1, 0]
    assert told.of_a_head(at_u, longer, 5).endswith(
        "to u, the nearest preposition before it. lesa and u are Gen."
    )
    elsewhere = told.of_a_head(at_na, longer, 5)
    assert "80% to na, though u stands nearer. na takes Loc, but" in elsewhere
    assert elsewhere.endswith("no explanation, then.")
    around = [("na", "ADP|Gen"), *longer[1:]]  # a phrase around another one
    assert "though u stands nearer. lesa and na are Gen." in told.of_a_head(at_na, around, 5)


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


def test_cases_are_counted_by_what_was_said_for_them_and_the_last_column_is_no_case():
    gold, said = [["N|Gen", "N|Acc", "P"]], [["N|Acc", "N|Acc", "N|Gen"]]
    assert told.cases_said(["Acc", "Gen"], gold, said) == [[1, 0, 0], [1, 0, 0]]
    assert told.cases_said(["Gen"], [["N|Gen"]], [["ADV"]]) == [[0, 1]]

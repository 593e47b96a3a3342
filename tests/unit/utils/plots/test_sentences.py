"""A sentence's tags in colour and in text."""

import re

import pytest

from utils.plots.sentences import TagTable, kind, show_tags

WORDS = ["za", "<b>hrady</b>", "."]
ALL = ["ADP", "NOUN|Ins", "PUNCT"]
ROWS = {"all words": ALL, "without za": [None, "NOUN|Acc", "PUNCT"]}


def colour(cell: str) -> str:
    return re.findall(r"background: (#\w+)", cell)[0]


def cells(row: str) -> list[str]:
    return re.findall(r"<td.*?</td>", row)


def test_what_differs_from_the_first_row_is_outlined_and_nothing_else() -> None:
    first, second = (cells(row) for row in TagTable(WORDS, ROWS)._repr_html_().split("</tr>")[1:3])
    assert ["outline" in cell for cell in first] == [False] * 3
    assert ["outline" in cell for cell in second] == [False, True, False]
    assert second[0] == "<td>–</td>"


def test_colours_stand_for_cases_and_tags_without_one_share_a_grey() -> None:
    table = TagTable(["a", "b", "c", "d"], {"x": ["NOUN|Acc", "ADJ|Acc", "NOUN|Gen", "ADP"]})
    found = [colour(cell) for cell in cells(table._repr_html_())]
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_words_are_escaped() -> None:
    shown = TagTable(WORDS, ROWS)._repr_html_()
    assert "<b>hrady" not in shown
    assert "&lt;b&gt;hrady" in shown


def test_without_a_front_end_changes_stand_between_asterisks() -> None:
    assert repr(TagTable(["za", "hrady", "."], ROWS)) == (
        "all words: za ADP  hrady NOUN|Ins  . PUNCT\nwithout za: za None  hrady *NOUN|Acc*  . PUNCT"
    )


@pytest.mark.parametrize(("tag", "case"), [("NOUN|Gen", "Gen"), ("ADP", ""), ("X|Dat|y", "Dat|y")])
def test_the_case_is_what_follows_the_bar(tag: str, case: str) -> None:
    assert kind(tag) == case


def test_a_row_of_another_length_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match="without za: 1 tags for 3 words"):
        show_tags(WORDS, {"all words": ALL, "without za": ["ADP"]})

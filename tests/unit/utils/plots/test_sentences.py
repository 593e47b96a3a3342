"""A sentence's tags in colour and in text."""

import re

import pytest

from utils.palette import PLAIN_TINT, TINTS
from utils.plots.sentences import TagTable, show_tags

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


def test_each_tag_has_its_colour_and_what_is_too_many_shares_a_grey() -> None:
    table = TagTable(["a", "b", "c"], {"x": ["NOUN", "VERB", "NOUN"], "y": ["NOUN", "ADP", "NOUN"]})
    found = [colour(cell) for cell in cells(table._repr_html_())]
    assert found[0] == found[2] == found[3]
    assert len(set(found)) == 3
    many = [f"tag {i}" for i in range(20)]
    found = [colour(cell) for cell in cells(TagTable(many, {"x": many})._repr_html_())]
    assert set(found) == {*TINTS, PLAIN_TINT}


def test_words_are_escaped() -> None:
    shown = TagTable(WORDS, ROWS)._repr_html_()
    assert "<b>hrady" not in shown
    assert "&lt;b&gt;hrady" in shown


def test_without_a_front_end_changes_stand_between_asterisks() -> None:
    assert repr(TagTable(["za", "hrady", "."], ROWS)) == (
        "all words: za ADP  hrady NOUN|Ins  . PUNCT\nwithout za: za None  hrady *NOUN|Acc*  . PUNCT"
    )


def test_a_row_of_another_length_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match="without za: 1 tags for 3 words"):
        show_tags(WORDS, {"all words": ALL, "without za": ["ADP"]})

"""What a notebook is told about parts that are not right yet."""

import pytest

from utils.progress import tries


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    for name, empty in (("_failed", tries.Counter()), ("_not_right", set()), ("_lent", {})):
        monkeypatch.setattr(tries, name, empty)
    monkeypatch.setattr(tries, "_built_on", {})


def wrong(name, **about):
    return tries.note_try(name, right=False, tried=True, lendable=True, **about)


def test_the_third_failed_try_offers_to_lend():
    offers = [wrong("attend") for _ in range(3)]
    assert offers[:2] == ["", ""]
    assert 'lend("attend")' in offers[2]


def test_tries_count_anew_after_a_right_one():
    wrong("attend"), wrong("attend")
    assert tries.note_try("attend", right=True, tried=True, lendable=True) == ""
    assert wrong("attend") == ""


def test_a_stub_is_no_try():
    offers = [tries.note_try("attend", right=False, tried=False, lendable=True) for _ in range(5)]
    assert offers == [""] * 5


def test_what_nothing_is_built_on_is_never_offered():
    offers = [
        tries.note_try("predict_x", right=False, tried=True, lendable=False) for _ in range(5)
    ]
    assert offers == [""] * 5
    assert tries.warning("plot(predict_x)") == ""


def test_a_cell_that_uses_a_wrong_part_is_warned_about():
    wrong("attend")
    assert "Your attend is not right yet" in tries.warning("plot(attend(scores, values))")


@pytest.mark.parametrize(
    "cell",
    [
        "plot(scores)",
        "def attend(scores, values):\n    return attend",
        "check.attend(attend)",
        "attend = carry('02', 'attend'); attend(1)",
        "%matplotlib inline\nattend(1)",
        "",
    ],
)
def test_a_cell_without_it_or_that_makes_or_checks_it_is_not(cell):
    wrong("attend")
    assert tries.warning(cell) == ""


def test_a_right_part_on_a_wrong_one_is_warned_about_by_the_wrong_one():
    wrong("split_heads")
    tries.note_try(
        "MultiHeadAttention", right=True, tried=True, lendable=True, built_on=["split_heads"]
    )
    said = tries.warning("layer = MultiHeadAttention(8, 2)")
    assert "Your split_heads is not right yet" in said


def test_a_mended_part_and_a_lent_one_are_no_longer_warned_about():
    wrong("attend"), wrong("merge_heads")
    tries.note_try("attend", right=True, tried=True, lendable=True)
    part = object()
    tries.mark_lent("merge_heads", part)
    assert tries.warning("merge_heads(attend(1))") == ""
    assert tries.is_lent("merge_heads", part)
    assert not tries.is_lent("merge_heads", object())


def test_two_wrong_parts_are_named_together():
    wrong("attend"), wrong("merge_heads")
    assert "attend and merge_heads are not right yet" in tries.warning("merge_heads(attend(1))")


def test_a_cell_that_needs_what_a_stopped_one_should_have_made_names_the_wrong_part():
    wrong("attend")
    tries.note_stopped("answers = {}\ndef compare():\n    answers[1] = attend(2)\ncompare()")
    assert "Your attend is not right yet" in tries.warning("print(answers[1])")
    assert "Your attend is not right yet" in tries.warning("compare()")
    tries.note_try("attend", right=True, tried=True, lendable=True)
    assert tries.warning("print(answers[1])") == ""


def test_a_cell_that_stops_for_another_reason_names_no_part():
    wrong("attend")
    tries.note_stopped("answers = missing(2)")
    assert tries.warning("print(answers)") == ""


def test_several_wrong_parts_are_listed_as_a_sentence_does():
    for name in ("attend", "causal_mask", "padding_mask"):
        wrong(name)
    said = tries.warning("attend(1, causal_mask(2), padding_mask(3))")
    assert said.startswith("Your attend, causal_mask and padding_mask are not right yet")

"""Parts of sentences."""

from utils.words import axes, counted, listed, share


def test_words_are_joined_as_in_a_sentence():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_numbers_agree_with_their_nouns():
    assert counted(1, "axis") == "1 axis"
    assert counted(3, "axis") == "3 axes"
    assert counted(2, "line") == "2 lines"
    assert counted(0, "axis") == "no axes"
    assert axes([2]) == "axis 2"
    assert axes([0, 1, 2]) == "axes 0, 1 and 2"


def test_a_share_has_its_name():
    assert [share(n) for n in (2, 3, 4, 12)] == ["half", "a third", "a quarter", "one part in 12"]

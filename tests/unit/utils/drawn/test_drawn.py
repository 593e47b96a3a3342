"""Drawn pictures: the same bytes each time, escaped, told in words, and chosen by keys."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

from utils import drawn
from utils.drawn.frame import button, element
from utils.drawn.ways import WAYS

WORDS = ["first", "second", "third"]
Q, K, V = torch.tensor([[3, 0], [0, 2], [1, 1]]), torch.eye(3)[:, :2], torch.eye(3)
MAPS = {"one": torch.tensor([[0.9, 0.1], [0.25, 0.75]])}
MOVING = {
    "by hand": lambda names=WORDS: drawn.attention_by_hand(names, Q.float(), K, V, query=1),
    "heads": lambda names=WORDS: drawn.heads(MAPS, names[:2], names[1:]),
    "clock": lambda names=WORDS: drawn.clock(),
    "turned": lambda names=WORDS: drawn.turned_pair(),
    "reach": lambda names=WORDS: drawn.reach(names),
}
DIAGRAMS = {name: lambda name=name: drawn.way(name) for name in WAYS} | {
    "encoder": lambda: drawn.encoder(3),
    "own encoder": lambda: drawn.own_encoder({"stable_softmax"}),
}
STILL = DIAGRAMS | {"batches": lambda: drawn.padded_batches({"<b>": [3, 1], "two": [2]})}
ALL = MOVING | STILL


def svg(picture: drawn.Drawn) -> ET.Element:
    return ET.fromstring(re.search(r"<svg.*</svg>", picture._repr_html_(), re.DOTALL)[0])


def told(picture: drawn.Drawn) -> str:
    return " ".join(part for part in svg(picture).itertext())


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_picture_drawn_twice_has_the_same_bytes(make):
    assert make()._repr_html_() == make()._repr_html_()


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_picture_is_small_and_asks_no_host_for_anything(make):
    html = make()._repr_html_()
    assert len(html.encode()) < 60_000
    addresses = set(re.findall(r"\w+://[^\"' ]*", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches
    assert not re.search(r"<iframe|<img|src=|@import|url\(|fetch\(", html)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_words_have_the_pages_own_ink_in_either_theme(make):
    written = [part for part in svg(make()).iter() if part.tag.endswith("}text")]
    assert [w.text for w in written if "fill" in w.attrib or "fill:" in w.get("style", "")] == []


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_picture_is_told_in_words_to_readers_of_the_screen_and_of_text(make):
    picture = make()
    root = svg(picture)
    assert picture.alt in root.get("aria-label")
    assert picture.alt in [part.text for part in root if part.tag.endswith("desc")]
    assert repr(picture) == picture.alt


def test_a_picture_without_words_is_refused():
    with pytest.raises(ValueError, match="description"):
        drawn.Drawn("title", " ", "", (1, 1))


@pytest.mark.parametrize("kind", ["by hand", "heads", "reach"])
def test_a_word_that_looks_like_html_stays_a_word(kind):
    bad = ["</script><b>", '"&', "<i>"]
    html = MOVING[kind](bad)._repr_html_()
    assert html.count("</script>") == 1
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<i>" in told(MOVING[kind](bad))


@pytest.mark.parametrize("kind", ["by hand", "heads", "reach"])
def test_what_can_be_chosen_is_a_button_for_the_keyboard_and_one_is_chosen(kind):
    choices = [part for part in svg(MOVING[kind]()).iter() if part.get("role") == "button"]
    assert len(choices) >= 2
    assert all(part.get("tabindex") == "0" and part.get("aria-label") for part in choices)
    assert [part.get("aria-pressed") for part in choices].count("true") == 1


@pytest.mark.parametrize("make", STILL.values(), ids=STILL)
def test_a_diagram_needs_no_script(make):
    assert "<script" not in make()._repr_html_()


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_diagram_of_data_tells_shapes(name):
    assert "(B, " in told(DIAGRAMS[name]())


@pytest.mark.parametrize("one", WAYS.values(), ids=WAYS)
def test_no_box_of_a_diagram_lies_outside_it_or_on_another(one):
    middles = [box.middle for box in one.boxes.values()]
    width, height = one.size
    assert all(0 < x < width and 0 < y < height for x, y in middles)
    near = [
        (a, b)
        for i, a in enumerate(middles)
        for b in middles[:i]
        if abs(a[0] - b[0]) < 104 and abs(a[1] - b[1]) < 34
    ]
    assert near == []


@pytest.mark.parametrize("one", WAYS.values(), ids=WAYS)
def test_every_box_of_a_diagram_is_on_the_way(one):
    assert set(one.boxes) == {end for start, stop, _ in one.arrows for end in (start, stop)}


def test_the_chosen_query_is_followed_to_its_mixed_value():
    text = told(MOVING["by hand"]())
    weights = (Q[1].float() @ K.T / 2**0.5).softmax(-1)
    assert f"({', '.join(f'{w:.2f}' for w in weights)})" in text  # V is the identity
    assert "'second'" in text


def test_weights_that_are_no_numbers_count_as_nothing():
    picture = drawn.heads({"broken": torch.full((2, 2), float("nan"))}, WORDS[:2], WORDS[1:])
    assert "nan" not in picture._repr_html_().lower()


def test_the_score_of_a_turned_pair_is_the_sum_of_its_products():
    text = told(drawn.turned_pair(speeds=(1.0, 0.5), apart=2))
    total = sum(torch.tensor([2.0, 1.0]).cos().tolist())
    assert f"score: {total:.2f}" in text


def test_values_of_attributes_are_escaped_and_names_are_those_of_html():
    assert element("a", class_="x", fill_opacity='"') == '<a class="x" fill-opacity="&quot;"></a>'
    assert "&lt;b&gt;" in button("p", 0, 0, 9, "<b>")

"""A drawn picture as a file: it brings its ground, its title and its colours along."""

import xml.etree.ElementTree as ET

import pytest

from tests.unit.utils.drawn.test_drawn import ALL
from utils import drawn
from utils.drawn.frame import as_file, title_of
from utils.palette import INK, PAPER

SVG = "{http://www.w3.org/2000/svg}"


def box(root: ET.Element) -> list[float]:
    return [float(number) for number in root.get("viewBox").split()]


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_file_has_its_title_on_a_white_ground_that_covers_it(make):
    picture = make()
    root = ET.fromstring(as_file(picture.svg()))
    ground = root.find(f"{SVG}rect")
    left, top, width, height = box(root)
    assert [float(ground.get(k)) for k in ("x", "y", "width", "height")] == box(root)
    assert ground.get("fill") == PAPER
    assert (root.get("width"), root.get("height")) == (f"{width:g}", f"{height:g}")
    head = root.find(f"{SVG}text")
    assert head.text == picture.title == title_of(picture.svg())
    assert top < float(head.get("y")) < 0  # above the picture, which begins at 0
    assert left + width >= picture.size[0]
    assert top + height >= picture.size[1]


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_file_needs_no_page_for_its_colours_and_no_host(make):
    text = as_file(make().svg())
    assert "currentColor" not in text
    assert f"text {{ fill: {INK}; }}" in text
    assert "<script" not in text
    assert text.count("http") == 1  # the name of SVG


def test_a_file_has_all_of_the_picture_and_its_words_first():
    picture = drawn.clock()
    root = ET.fromstring(as_file(picture.svg()))
    assert [part.tag.removeprefix(SVG) for part in root[:3]] == ["title", "desc", "style"]
    assert root[1].text == picture.alt
    before = [part.attrib for part in ET.fromstring(picture.svg()).iter(f"{SVG}circle")]
    assert len(before) == len(list(root.iter(f"{SVG}circle"))) > 0


def test_a_long_title_makes_the_ground_wider_and_its_signs_stay():
    picture = drawn.Drawn("a < b & " * 20, "alt", "", (100, 50))
    root = ET.fromstring(as_file(picture.svg()))
    assert root.find(f"{SVG}text").text == picture.title
    assert box(root)[2] > 100 * 9

"""How a verdict's matrices are drawn."""

import re

from grader.course.graded_copies import Picture
from grader.pages.pictures import drawn
from utils.palette import AMBER

LIGHT, DARK, ODD = "#f7fbff", "#08306b", AMBER.lower()


def colours(svg):
    return [found.lower() for found in re.findall(r'fill="(#[0-9a-fA-F]{6})"', svg)]


def test_a_matrix_is_drawn_with_its_numbers_and_colours():
    rows = ((("1", 1.0), ("inf", None)), (("0", 0.0), ("1", 1.0)))
    svg = drawn(Picture("got", rows))
    assert colours(svg) == [DARK, ODD, LIGHT, DARK]
    assert re.findall("<title>(.*?)</title>", svg) == ["1", "inf", "0", "1"]
    assert svg.count("!</text>") == 1
    assert 'aria-label="got: 2 rows of 2 entries, darker is larger"' in svg


def test_larger_numbers_are_darker():
    svg = drawn(Picture("got", (tuple((str(n), n / 10) for n in range(11)),)))
    shades = [sum(bytes.fromhex(colour[1:])) for colour in colours(svg)]
    assert shades == sorted(set(shades), reverse=True)
    assert len(shades) == 11


def test_nothing_of_a_picture_becomes_markup():
    svg = drawn(Picture('"><script>', ((("<b>", 0.5),),)))
    assert "<script>" not in svg
    assert "<b>" not in svg


def test_an_empty_matrix_is_an_empty_picture():
    assert colours(drawn(Picture("got", ()))) == []

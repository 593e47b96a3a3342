"""One palette: no module has colours of its own, and none of them is purple or brown."""

import colorsys
import re
from pathlib import Path

import pytest

from utils import palette

UTILS = Path(palette.__file__).parent
FILES = [
    path
    for path in sorted(UTILS.rglob("*"))
    if path.suffix in (".py", ".css", ".js", ".html") and path.name != "palette.py"
]
COLOUR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|rgba?\(\d|\b(?:PuOr|Purples|copper)\b")
NAMED = [
    *palette.SERIES, palette.ORANGE, palette.NONE, palette.EDGE, *palette.TINTS,
    palette.RIGHT.ground, palette.NEARLY.ground, palette.WRONG.ground, palette.OPEN.ground,
]  # fmt: skip


def test_no_module_but_the_palette_writes_a_colour() -> None:
    found = {
        path.relative_to(UTILS): colours
        for path in FILES
        if (colours := COLOUR.findall(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def is_purple_or_brown(colour: str) -> bool:
    """By hue and lightness: violet to magenta, or a dark orange."""
    hue, light, strong = colorsys.rgb_to_hls(*(p / 255 for p in bytes.fromhex(colour[1:])))
    violet = 255 < 360 * hue < 335 and strong > 0.15
    return violet or (15 < 360 * hue < 45 and light < 0.36 and strong > 0.2)


@pytest.mark.parametrize("colour", NAMED)
def test_no_colour_is_purple_or_brown(colour: str) -> None:
    assert not is_purple_or_brown(colour)


@pytest.mark.parametrize("colour", ["#CC79A7", "#cab2d6", "#7F3B08", "#542788", "#8B4513"])
def test_purple_and_brown_are_known_as_such(colour: str) -> None:
    assert is_purple_or_brown(colour)

"""The course's colours: diagrams, plots, heat maps and verdicts take all of theirs from here.

They are Okabe and Ito's, less the purple: people with any common colour blindness can tell them
apart. A colour that carries words comes with the ink that is read on it, at 4.5:1 or more.
"""

from typing import Final, NamedTuple

BLUE, ORANGE, GREEN, SKY, AMBER, BLACK, GREY = (
    "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#000000", "#7F7F7F",
)  # fmt: skip
INK, PAPER, RULE, EDGE = "#222222", "#ffffff", "#dddddd", "#bdbdbd"
NONE = "#f7f7f7"  # zero, on a scale from ORANGE to BLUE
# Pale enough for INK in either theme; what has one of them has its name beside it.
TINTS: Final = (
    "#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#ffff99", "#9ad6cf", "#d7e8f5", "#ffe3c2",
)  # fmt: skip
PLAIN_TINT = "#e0e0e0"
Shade = tuple[int, int, int]
SERIES: Final = (BLUE, ORANGE, GREEN, AMBER, SKY, BLACK, GREY)  # of lines, the first first
LIGHT: Final[Shade] = (247, 251, 255)  # the least of a scale of numbers
DARK: Final[Shade] = (8, 48, 107)  # and the most


class Sign(NamedTuple):
    """A colour that carries words, and the ink for them."""

    ground: str
    ink: str


RIGHT = Sign("#00734F", "#ffffff")
NEARLY = Sign(AMBER, INK)
WRONG = Sign("#B3261E", "#ffffff")
OPEN = Sign("#5F6368", "#ffffff")

"""The course's colours: diagrams, plots, heat maps and verdicts take all of theirs from here.

They are Okabe and Ito's, less the purple: people with any common colour blindness can tell them
apart. A colour that carries words comes with the ink that is read on it, at 4.5:1 or more.
"""

from typing import Final, NamedTuple

BLUE, ORANGE, GREEN, SKY, AMBER, BLACK, GREY = (
    "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#000000", "#7F7F7F",
)  # fmt: skip
INK, PAPER, RULE = "#222222", "#ffffff", "#dddddd"
Shade = tuple[int, int, int]
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

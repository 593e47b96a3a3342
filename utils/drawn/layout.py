"""A small layout for pictures of the data's way: boxes in a grid, and arrows that tell shapes."""

import math
from dataclasses import dataclass, field

from utils.drawn.frame import INK, element, line, words
from utils.palette import BLUE, GREEN, ORANGE

COLUMN, ROW, WIDE, HIGH = 165, 66, 104, 34
COLOURS = {"plain": INK, "learned": ORANGE, "data": BLUE, "sum": GREEN}
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A step of the way.

    Args:
        column: from the left, halves allowed.
        row: from the top, halves allowed.
        text: what stands in it.
        kind: plain (computes), learned (has parameters), data, or sum.

    """

    column: float
    row: float
    text: str
    kind: str = "plain"

    @property
    def middle(self) -> Point:
        """Its middle, in CSS pixels."""
        return COLUMN * self.column + COLUMN / 2, ROW * self.row + ROW / 2


@dataclass(frozen=True)
class Way:
    """One diagram.

    Args:
        title: what it is.
        alt: what it shows, for readers who cannot see it.
        boxes: name -> its box.
        arrows: (from, to, shape or other words on the way).
        notes: (column, row, text) beside the boxes.

    """

    title: str
    alt: str
    boxes: dict[str, Box]
    arrows: list[tuple[str, str, str]]
    notes: list[tuple[float, float, str]] = field(default_factory=list)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height that hold all boxes, in CSS pixels."""
        columns = max(box.column for box in self.boxes.values()) + 1
        rows = max(box.row for box in self.boxes.values()) + 1
        return math.ceil(COLUMN * columns) + 20, math.ceil(ROW * rows)

    def draw(self) -> str:
        """Draw arrows, then boxes, then notes."""
        arrows = [
            _arrow(self.boxes[start].middle, self.boxes[end].middle, text)
            for start, end, text in self.arrows
        ]
        notes = [
            words(
                COLUMN * (c + 0.5), ROW * (r + 0.5) + 4, text, text_anchor="middle", class_="faint"
            )
            for c, r, text in self.notes
        ]
        return "".join([*arrows, *map(_box, self.boxes.values()), *notes])


def _box(box: Box) -> str:
    x, y = box.middle
    colour = COLOURS[box.kind]
    return element(
        "rect", x=x - WIDE / 2, y=y - HIGH / 2, width=WIDE, height=HIGH, rx=6, fill=colour,
        fill_opacity=0.14, stroke=colour, stroke_width=1.5,
    ) + words(x, y + 5, box.text, text_anchor="middle")  # fmt: skip


def _edge(middle: Point, other: Point) -> Point:
    """Return where the line between two middles leaves the box around the first."""
    dx, dy = other[0] - middle[0], other[1] - middle[1]
    share = min(WIDE / 2 / abs(dx) if dx else math.inf, HIGH / 2 / abs(dy) if dy else math.inf, 0.5)
    return middle[0] + share * dx, middle[1] + share * dy


def _arrow(start: Point, end: Point, text: str) -> str:
    """Draw an arrow between two boxes, with its words beside it.

    One with words goes sideways first and then up or down, so that they have a place to stand.
    """
    if not text or start[0] == end[0] or start[1] == end[1]:
        (x1, y1), (x2, y2) = _edge(start, end), _edge(end, start)
        flat = abs(y2 - y1) < abs(x2 - x1)
        shift = (0, -5) if flat else (6, 4)
        return headed(x1, y1, x2, y2) + words(
            (x1 + x2) / 2 + shift[0], (y1 + y2) / 2 + shift[1], text, font_size=11,
            text_anchor="middle" if flat else "start",
        )  # fmt: skip
    corner = (end[0], start[1])
    x1, y1 = _edge(start, corner)
    return (
        line(x1, y1, *corner, stroke_width=1.4)
        + headed(*corner, *_edge(end, corner))
        + words((x1 + corner[0]) / 2, y1 - 5, text, font_size=11, text_anchor="middle")
    )


def headed(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw a line with a head at its end."""
    angle = math.atan2(y2 - y1, x2 - x1)
    sides = [
        (x2 - 9 * math.cos(angle + turn), y2 - 9 * math.sin(angle + turn)) for turn in (-0.4, 0.4)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(x2, y2), *sides])
    ends = (f"{number:.1f}" for number in (x1, y1, x2, y2))
    return line(*ends, stroke_width=1.4) + element("polygon", points=points, fill=INK)

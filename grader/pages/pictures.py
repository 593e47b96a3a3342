"""A verdict's matrices, drawn as SVG: numbers and colours, so nothing can run or load anything."""

from typing import Final

from markupsafe import Markup

from grader.course.graded_copies import Picture
from utils.palette import AMBER, DARK, LIGHT

SIDE: Final = 16  # pixels of one entry

_SQUARE: Final = Markup(
    '<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>'
)
_MARK: Final = Markup('<text x="{}" y="{}" font-size="11" text-anchor="middle">!</text>')


def drawn(picture: Picture) -> Markup:
    """Return a matrix as a picture, darker where the numbers are larger."""
    columns = max(map(len, picture.rows), default=0)
    width, height = SIDE * columns, SIDE * len(picture.rows)
    squares = [
        _SQUARE.format(SIDE * column, SIDE * line, SIDE, SIDE, _colour(darkness), number)
        for line, row in enumerate(picture.rows)
        for column, (number, darkness) in enumerate(row)
    ]
    squares += [
        _MARK.format(SIDE * column + SIDE // 2, SIDE * line + 12)
        for line, row in enumerate(picture.rows)
        for column, (_, darkness) in enumerate(row)
        if darkness is None
    ]
    told = f"{picture.label}: {len(picture.rows)} rows of {columns} entries, darker is larger"
    return Markup(
        '<svg class="map" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        "{}</svg>"
    ).format(told, width, height, width, height, Markup("").join(squares))


def _colour(darkness: float | None) -> str:
    """Return white to dark blue, which all readers can tell apart, or amber: no finite number."""
    if darkness is None:
        return AMBER
    mixed = (int(a + darkness * (b - a)) for a, b in zip(LIGHT, DARK, strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)

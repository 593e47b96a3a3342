"""The heat maps in a verdict's HTML, drawn again as SVG.

Nothing of that HTML is kept but numbers and colours, so nothing in it can run or load anything.
"""

import math
import re
from typing import Final

from markupsafe import Markup

MOST_HTML: Final = 100_000  # characters; a verdict with two full maps has about 40,000
MOST_ROWS: Final = 8
MOST_COLUMNS: Final = 12
LABELS: Final = ("expected", "got")
SIDE: Final = 16  # pixels of one entry

_MAP: Final = "<table style='border-collapse: collapse;"
_ENTRY: Final = re.compile(
    r"<td title='([-+.0-9a-zA-Z]{1,12})' style='[^'<>]{0,120}background-color: "
    r"rgb\((\d{1,3}), (\d{1,3}), (\d{1,3})\);'>"
)

Entry = tuple[str, str]  # the number as text, its colour


def heat_maps(html: object) -> list[tuple[str, Markup]]:
    """Return what was expected and the result as (label, SVG); nothing if there are no two maps."""
    if not isinstance(html, str) or len(html) > MOST_HTML:
        return []
    pieces = html.split(_MAP)[1:]
    maps = [entries for entries in map(_entries, pieces) if entries]
    if len(maps) != len(LABELS):
        return []
    return [(label, _svg(label, rows)) for label, rows in zip(LABELS, maps, strict=True)]


def _entries(table: str) -> list[list[Entry]]:
    """Return a map's rows: number and colour of each entry."""
    body = table.partition("</table>")[0]
    rows = [_row(text) for text in body.split("</tr>")[:MOST_ROWS]]
    return [row for row in rows if row]


def _row(text: str) -> list[Entry]:
    found = _ENTRY.findall(text)[:MOST_COLUMNS]
    return [(number, "#" + "".join(_hex(part) for part in rgb)) for number, *rgb in found]


def _number(text: str) -> float:
    """Return an entry's number; a map of booleans has words, and so may a forged one."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _hex(part: str) -> str:
    return f"{min(int(part), 255):02x}"


_SQUARE: Final = Markup(
    '<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>'
)


def _svg(label: str, rows: list[list[Entry]]) -> Markup:
    width, height = SIDE * max(map(len, rows)), SIDE * len(rows)
    squares = [
        Markup(
            '<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>'
        ).format(SIDE * column, SIDE * line, SIDE, SIDE, colour, number)
        for line, row in enumerate(rows)
        for column, (number, colour) in enumerate(row)
    ]
    squares += [
        Markup('<text x="{}" y="{}" font-size="11" text-anchor="middle">!</text>').format(
            SIDE * column + SIDE // 2, SIDE * line + 12
        )
        for line, row in enumerate(rows)
        for column, (number, _) in enumerate(row)
        if not math.isfinite(_number(number))
    ]
    told = f"{label}: {len(rows)} rows of {max(map(len, rows))} entries, darker is larger"
    return Markup(
        '<svg class="map" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        "{}</svg>"
    ).format(told, width, height, width, height, Markup("").join(squares))

"""Drawn pictures as files of their own, for slides and pages that bring no style with them."""

import html
import re
from typing import Final

from utils.drawn.frame import HERE, INK, element
from utils.palette import INK as DARK
from utils.palette import ORANGE, PAPER

# The rules of drawn.css that say how parts of a picture look.
RULE: Final = re.compile(
    r"^\.drawn (?:svg )?((?:text|\.faint|\.strong|\.choice)\b.*)$", re.MULTILINE
)
MARGIN, HEAD, LETTER = 16, 44, 9.5  # in CSS pixels; the last one for each letter of a title


def title_of(svg: str) -> str:
    """Return the title of a drawn picture.

    Args:
        svg: the picture's `svg` element, as a notebook holds it.

    """
    return html.unescape(svg.partition("<title>")[2].partition("</title>")[0])


def as_file(svg: str) -> str:
    """Return a drawn picture as the text of an SVG file, with its title on a white ground.

    Args:
        svg: the picture's `svg` element, as a notebook holds it: colours follow the page there.

    """
    title, inside = title_of(svg), svg.partition(">")[2].removesuffix("</svg>")
    width, height = map(float, svg.partition('viewBox="0 0 ')[2].partition('"')[0].split())
    width = max(width, LETTER * len(title)) + 2 * MARGIN
    height += HEAD + MARGIN
    size: dict[str, object] = {"width": f"{width:g}", "height": f"{height:g}"}
    ground = element("rect", x=-MARGIN, y=-HEAD, **size, fill=PAPER)
    head = element("text", html.escape(title), x=0, y=-18, font_size=17, font_weight=700)
    return element(
        "svg",
        # Readers of the screen want the words, which end with `desc`, to come first.
        inside.replace("</desc>", f"</desc>{element('style', _style())}{ground}{head}", 1),
        xmlns="http://www.w3.org/2000/svg",
        **size,
        viewBox=f"{-MARGIN} {-HEAD} {width:g} {height:g}",
        font_family="system-ui, sans-serif",
        font_size=13,
    ).replace(INK, DARK)


def _style() -> str:
    css = (HERE / "drawn.css").read_text(encoding="utf-8").replace("ORANGE", ORANGE)
    return " ".join(RULE.findall(css))

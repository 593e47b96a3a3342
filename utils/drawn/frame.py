"""What all drawn pictures share: elements of SVG, their frame on a page or in a file, scripts."""

import html
import json
import re
from pathlib import Path
from typing import Any, Final

from utils.palette import INK as DARK
from utils.palette import ORANGE, PAPER

HERE = Path(__file__).parent
INK = "currentColor"
# The rules of drawn.css that say how parts of a picture look.
RULE: Final = re.compile(
    r"^\.drawn (?:svg )?((?:text|\.faint|\.strong|\.choice)\b.*)$", re.MULTILINE
)
MARGIN, HEAD, LETTER = 16, 44, 9.5  # in CSS pixels; the last one for each letter of a title


def element(name: str, *inside: str, **attributes: object) -> str:
    """Write one element; `fill_opacity` becomes `fill-opacity`, `class_` becomes `class`.

    Args:
        name: of the element.
        inside: what it holds, written already; text is escaped by `words`.
        attributes: their values are escaped here.

    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{''.join(inside)}</{name}>"


def words(x: float, y: float, text: str, **attributes: object) -> str:
    """Write text whose baseline begins at (x, y)."""
    return element("text", html.escape(text), x=x, y=y, **attributes)


def line(x1: object, y1: object, x2: object, y2: object, **attributes: object) -> str:
    """Draw a line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": INK, **attributes})


def button(part: str, x: float, y: float, w: float, text: str, *, chosen: bool = False) -> str:
    """Draw a word that can be chosen by a click, by Enter, or by the arrow keys."""
    return element(
        "g",
        element("rect", x=x, y=y - 18, width=w, height=26, rx=5),
        words(x + w / 2, y, text, text_anchor="middle"),
        class_="choice",
        data_part=part,
        role="button",
        tabindex=0,
        aria_label=text,
        aria_pressed=str(chosen).lower(),
    )


def slider(part: str, label: str, most: int, value: int, least: int = 0) -> str:
    """Write a labelled slider of whole numbers; what it stands for is shown beside it."""
    control = element(
        "input", data_part=part, type="range", min=least, max=most, step=1, value=value
    )
    shown = element("output", data_part=f"{part}-shown")
    return element("label", html.escape(label), control.removesuffix("</input>"), shown)


def play(part: str) -> str:
    """Write a button that lets time pass: it moves the slider `part` step by step."""
    return element("button", "▶ play", type="button", data_part=f"{part}-play")


def choice(part: str, label: str, names: dict[str, str]) -> str:
    """Write a labelled list to choose from: value -> what is read."""
    options = (element("option", html.escape(text), value=value) for value, text in names.items())
    return element("label", html.escape(label), element("select", *options, data_part=part))


class Drawn:
    """A drawn picture, as a notebook or a web page shows it.

    Args:
        title: what it is, in a few words.
        alt: what it shows, for readers who cannot see it.
        drawing: the elements of the picture.
        size: width and height, in CSS pixels.
        controls: what is shown above the picture where scripts run.
        script: name of the file in this folder that moves the picture, if any does.
        data: what the script reads.

    Raises:
        ValueError: there is no description.

    """

    def __init__(
        self,
        title: str,
        alt: str,
        drawing: str,
        size: tuple[int, int],
        *,
        controls: str = "",
        script: str | None = None,
        data: Any = None,
    ) -> None:
        if not alt.strip():
            raise ValueError("a picture needs its description: alt='...'")
        self.title, self.alt, self.drawing, self.size = title, alt, drawing, size
        self.controls, self.script, self.data = controls, script, data

    def __repr__(self) -> str:
        """Return what the picture shows, in words."""
        return self.alt

    def _repr_html_(self) -> str:
        """Return the picture with its style, its words and its script, the same bytes each time."""
        style = (HERE / "drawn.css").read_text(encoding="utf-8").replace("ORANGE", ORANGE)
        told = element("p", data_part="told", role="status", class_="told") if self.script else ""
        controls = element("div", self.controls, class_="controls", hidden="hidden")
        hint = "Click a word, or choose one with the arrow keys."
        controls += element("p", hint, class_="hint", hidden="hidden")
        inside = element("summary", "This picture in words") + html.escape(self.alt)
        return element(
            "div",
            element("style", style),
            controls if self.script else "",
            # Focusable, since it scrolls where there is little room.
            element("div", self.svg(), class_="stage", tabindex=0),
            told,
            element("details", inside),
            self._script(),
            class_="drawn",
            style=f"--natural: {self.size[0]}px",
            role="group",
            aria_label=self.title,
        )

    def svg(self) -> str:
        """Return the picture alone, in the colours of the page that it stands in."""
        width, height = self.size
        # An image has nothing within it to choose, so what can be chosen is a group.
        role = "group" if self.script else "img"
        return element(
            "svg",
            element("title", html.escape(self.title)),
            element("desc", html.escape(self.alt)),
            self.drawing,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {height}",
            role=role,
            aria_label=f"{self.title}. {self.alt}",
        )

    def _script(self) -> str:
        if self.script is None:
            return ""
        ours = [(HERE / name).read_text(encoding="utf-8") for name in ("drawn.js", self.script)]
        # "</script>" within the data would end the script.
        data = json.dumps(self.data).replace("<", "\\u003c")
        return element("script", "(() => {\n", f"const data = {data};\n", *ours, "})();")


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

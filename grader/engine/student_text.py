"""A student's own texts and pictures, made fit for the pages that others open.

An instructor opens them with an instructor's rights (formgrader), so nothing in them may run; and
nothing in them may keep a page from being written.
"""

import base64
import html
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import unquote

Pictures = dict[str, dict[str, str]]  # name -> type -> content in base64

MOST_IN_CELL: Final = 20_000  # characters: turning markdown into a page may take quadratic time
MOST_IN_ALL: Final = 50_000
MOST_PICTURES: Final = 1 << 20  # bytes, in one notebook
TYPES: Final = ("image/png", "image/jpeg")
CUT: Final = "\n\n*(The text was cut here: it is too long for this page.)*"
NO_PICTURE: Final = (
    "*(A picture is not shown here: pages keep PNG and JPEG pictures, up to 1 MiB in all.)*"
)
NO_LINK: Final = "*(A text is not shown here: it holds a link that pages do not take.)*"

_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_PROGRAM: Final = re.compile(r"(java|vb)script:", re.IGNORECASE)
_OBSCURING: Final = re.compile(r"[\\\x00-\x1f]")  # what may stand inside a link and not count
_PICTURE: Final = re.compile(  # each + after + or * keeps it linear: no second tries
    r"!\[(?P<alt>[^\[\]\n]*+)\]\(<?attachment:(?P<name>[^()<>\n]*+)>?+[^()\n]*+\)|attachment:"
)


def encodable(text: str) -> str:
    """Replace what no file can hold (a lone surrogate) by question marks."""
    return text.encode("utf-8", "replace").decode()


class StudentTexts:
    """The text cells of one notebook, taken in order: what they may show in all is bounded."""

    def __init__(self, ours: Collection[str]) -> None:
        """Begin a notebook; `ours` are the lesson's own texts, which stay as they are."""
        self._ours = ours
        self._characters, self._bytes = MOST_IN_ALL, MOST_PICTURES

    def shown(self, source: str, attachments: object) -> tuple[str, Pictures]:
        """A text as pages may show it, and the pictures in it."""
        if source in self._ours:
            return source, {}
        kept: Pictures = {}
        text = self._cut(encodable(source))
        text = _PICTURE.sub(lambda found: self._picture(found, attachments, kept), text)
        if _has_bad_link(text):
            return NO_LINK, {}
        return _TAG.sub("< ", text), kept

    def _cut(self, text: str) -> str:
        room = min(MOST_IN_CELL, self._characters)
        self._characters -= min(len(text), room)
        return text if len(text) <= room else text[:room] + CUT

    def _picture(self, found: re.Match[str], attachments: object, kept: Pictures) -> str:
        """Keep a picture that is there and fits; a name without one would stop the page."""
        if found["name"] is None:
            return "attachment :"
        name = found["name"].split('"')[0].strip()
        known = attachments if isinstance(attachments, dict) else {}
        content = self._fitting(known.get(name, known.get(unquote(name))))
        if not content:
            return NO_PICTURE
        kept[f"picture-{len(kept) + 1}"] = content
        return f"![{found['alt']}](attachment:picture-{len(kept)})"

    def _fitting(self, content: object) -> dict[str, str]:
        for kind in TYPES:
            data = _decoded(content.get(kind)) if isinstance(content, dict) else b""
            if 0 < len(data) <= self._bytes:
                self._bytes -= len(data)
                return {kind: base64.b64encode(data).decode()}
        return {}


def _decoded(text: object) -> bytes:
    try:
        return base64.b64decode("".join(text.split())) if isinstance(text, str) else b""
    except ValueError:
        return b""


def _has_bad_link(text: str) -> bool:
    """Whether a link runs a program, or hides that it names an attachment."""
    plain = text
    for _ in range(3):  # markdown and the browser each take away one layer
        plain = _OBSCURING.sub("", html.unescape(plain))
    return bool(_PROGRAM.search(plain)) or plain.count("attachment:") > text.count("attachment:")

"""A student's own texts and pictures, made safe for the pages that others open.

Instructors open these pages with their own rights (formgrader), so nothing in a text or picture
may run, and nothing may keep a page from being written.
"""

import base64
import html
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import unquote

from grader.workers.protocol import encodable

Pictures = dict[str, dict[str, str]]  # name -> type -> content in base64

MOST_IN_CELL: Final = 20_000  # characters: turning markdown into a page may take quadratic time
MOST_IN_ALL: Final = 50_000
MOST_PICTURES: Final = 1 << 20  # bytes, in one notebook
TYPES: Final = ("image/png", "image/jpeg")
CUT: Final = "\n\n*(The text was cut here: it is too long for this page.)*"
NO_PICTURE: Final = (
    "*(A picture is not shown here: pages keep PNG and JPEG pictures, up to 1 MiB in all.)*"
)
NO_LINK: Final = (
    "*(A text is not shown here: it holds a link or a character that pages do not take.)*"
)

_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_PROGRAM: Final = re.compile(r"(java|vb)script:", re.IGNORECASE)
_LOCAL: Final = re.compile(  # as a link; between mark and address, quotes go on with a >
    r"(?:\]\(|\]:|<)[\s>]*+(?:data|file|blob):",  # no mark may stand there: that keeps it linear
    re.IGNORECASE,
)
_REMOTE: Final = re.compile(r"!(?=\[)(?!\[[^\[\]\n]*+\]\(attachment:picture-\d+\))")
_OBSCURING: Final = re.compile(r"[\\\x00-\x1f]")  # what a link may hold without effect
_PICTURE: Final = re.compile(  # each + after + or * keeps it linear: no backtracking
    r"!\[(?P<alt>[^\[\]\n]*+)\]\(<?attachment:(?P<name>[^()<>\n]*+)>?+[^()\n]*+\)|attachment:"
)


class StudentTexts:
    """The text cells of one notebook, in order, with a bound on what they may show in all."""

    def __init__(self, ours: Collection[str]) -> None:
        """Begin a notebook; `ours` are the lesson's own texts, which stay as they are."""
        self._ours = ours
        self._characters, self._bytes = MOST_IN_ALL, MOST_PICTURES

    def shown(self, source: str, attachments: object) -> tuple[str, Pictures]:
        """Return a text as pages may show it, and the pictures in it."""
        if source in self._ours:
            return source, {}
        kept: Pictures = {}
        text = self._cut(encodable(source))
        text = _PICTURE.sub(lambda found: self._picture(found, attachments, kept), text)
        safe = _safe(text)
        return safe, {} if safe == NO_LINK else kept

    def _cut(self, text: str) -> str:
        room = min(MOST_IN_CELL, self._characters)
        self._characters -= min(len(text), room)
        return text if len(text) <= room else text[:room] + CUT

    def _picture(self, found: re.Match[str], attachments: object, kept: Pictures) -> str:
        """Keep a picture that exists and fits; a name without one would stop the page."""
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


def _uncovered(text: str) -> str:
    for _ in range(3):  # markdown and the browser each remove one layer
        text = _OBSCURING.sub("", html.unescape(text))
    return text


def _has_bad_link(text: str) -> bool:
    """Return whether a link runs a program, leads into a file, or hides an attachment's name."""
    try:
        plain = _uncovered(text)
    except ValueError:  # a character's number has more digits than Python reads
        return True
    bad = _PROGRAM.search(plain) or _LOCAL.search(plain)
    return bool(bad) or plain.count("attachment:") > text.count("attachment:")


def safe_note(note: str) -> str:
    """Return a sentence of ours as pages may show it, whatever words of a student it quotes."""
    return _safe(encodable(note))


def _safe(text: str) -> str:
    """Return a text without what runs, loads, or leads elsewhere than a plain link does."""
    if _has_bad_link(text):
        return NO_LINK
    text = _REMOTE.sub("! ", text)  # a link: nothing is loaded from elsewhere unasked
    return _TAG.sub("< ", text)

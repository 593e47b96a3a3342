"""A student's own texts and pictures, made safe for the pages that others open.

Instructors open these pages with their own rights, in formgrader and JupyterLab: nothing in a text
or picture may run, load anything or lead elsewhere, and nothing may keep a page from being written.
A link keeps its text and loses its address.
"""

import base64
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

_PICTURE: Final = re.compile(  # each + after + or * keeps it linear: no backtracking
    r"!\[(?P<alt>[^\[\]\n]*+)\]\(<?attachment:(?P<name>[^()<>\n]*+)>?+[^()\n]*+\)|attachment:"
)
_KEPT: Final = re.compile(
    r"(!\[[^\[\]\n]*+\]\(attachment:picture-\d+\))"
)  # as `_picture` writes it
_TARGET: Final = re.compile(  # of a link, or of a name that links use
    r"\](?:\((?P<inline>(?:[^()]|\([^()]*+\))*+)\)|:[\s>]*+(?P<defined>\S*+))"
)
_OF_ADDRESSES: Final = re.compile(r"[/:.#?&%@\\]")
# Without these marks, as they stand, no reader of markdown or mathematics makes a link, loads
# anything or takes a tag.
_MARK: Final = re.compile(
    r"(?<=\])(?=[(:])|(?<=<)(?=[A-Za-z/!?])|(?<=:)(?=//)|(?<=www)(?=\.)"
    r"|(?<=\\)(?=(?:href|url|style|class|cssId|bbox|data|require)(?![A-Za-z]))",
    re.IGNORECASE,
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
        parts = _KEPT.split(text)
        parts[::2] = [_without_links(_TARGET.sub(_untargeted, part)) for part in parts[::2]]
        return "".join(parts).replace("<!", "< !"), kept

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
        return f"![{_without_links(found['alt'])}](attachment:picture-{len(kept)})"

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


def safe_note(note: str) -> str:
    """Return a sentence of ours as pages may show it, whatever words of a student it quotes."""
    return _without_links(encodable(note))


def _without_links(text: str) -> str:
    """Return a text in which nothing leads elsewhere, loads or runs: a space is in each mark."""
    return _MARK.sub(" ", text)


def _untargeted(found: re.Match[str]) -> str:
    """Return what stays of a link behind its text: nothing of an address, all of anything else."""
    target = found["inline"] if found["defined"] is None else found["defined"]
    is_address = _OF_ADDRESSES.search(next(iter(target.split()), ""))
    return "]" if is_address else found[0]

"""Why a cell cannot be read as Python: the line, and the odd character if there is one."""

import ast
import re
import unicodedata
import warnings
from typing import Final, NamedTuple

from grader.static_analysis.cells import as_python

TOO_MUCH: Final = "it is too long or too deeply nested to be read"
MAGICS: Final = "grading reads no cell with as many magics, or none like this"
NAMED: Final = re.compile(r"invalid (?:non-printable )?character.*\(?U\+([0-9A-F]{4,6})\)?$")
MEANT: Final = {
    "\N{MINUS SIGN}": "-", "\N{MULTIPLICATION SIGN}": "*", "\N{DIVISION SIGN}": "/",
    "\N{MIDDLE DOT}": "*", "\N{DOT OPERATOR}": "*", "\N{ASTERISK OPERATOR}": "*",
    "\N{LESS-THAN OR EQUAL TO}": "<=", "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{NOT EQUAL TO}": "!=", "\N{RIGHTWARDS ARROW}": "->", "\N{BULLET}": "*",
    "\N{PRIME}": "'", "\N{DOUBLE PRIME}": '"', "\N{ACUTE ACCENT}": "'", "\N{SQUARE ROOT}": "sqrt",
}  # fmt: skip
SINGLE: Final = set("‘’‚‛‹›")


class Unreadable(NamedTuple):
    """Where a cell cannot be read.

    Attributes:
        line: counted from 1; 0 if it is not known.
        why: what is wrong there, and what to do if that is clear; without a full stop.

    """

    line: int
    why: str


def why_unreadable(source: str) -> Unreadable:
    """Return where and why a cell cannot be read, for one that cannot."""
    if "\0" in source:  # Python does not say where
        return Unreadable(_lines_to(source, source.index("\0")), _of_character("\0"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(as_python(source))
    except SyntaxError as error:
        line, message = error.lineno or 0, error.msg or ""
        text = "".join(source.splitlines()[line - 1 : line])
        if text.lstrip().startswith(("%", "!")):
            return Unreadable(line, MAGICS)
        found = NAMED.search(message)
        if found is not None:
            return Unreadable(line, _of_character(chr(int(found[1], 16))))
        odd = [_of_character(c) for c in _without_texts(text) if _is_lookalike(c)][:1]
        return Unreadable(line, "; ".join([_plain(message), *odd]))
    except (ValueError, RecursionError, MemoryError):
        pass
    return Unreadable(0, TOO_MUCH)


def _lines_to(source: str, end: int) -> int:
    return source.count("\n", 0, end) + 1


def _without_texts(line: str) -> str:
    """Return a line of code without the texts and the comment in it, as far as they are whole."""
    return re.sub(r"""("[^"]*"|'[^']*')|#.*""", "", line)


def _is_lookalike(character: str) -> bool:
    """Return whether Python takes a character for a letter, or part of a text, that is no such."""
    return not character.isascii() and bool(meant_by(character))


def _of_character(character: str) -> str:
    """Return what an odd character is and what to type in its place."""
    name = unicodedata.name(character, "without a name").lower()
    told = f"it holds U+{ord(character):04X} ({name}), which Python does not read"
    meant = meant_by(character)
    if not meant:
        unseen = unicodedata.category(character) in ("Cf", "Cc", "Mn")
        return f"{told}: delete it" + (", though it cannot be seen" if unseen else "")
    return f"{told}: type {'a space' if meant == ' ' else f'`{meant}`'} in its place"


def meant_by(character: str) -> str:
    """Return what to type on a keyboard in place of a character; "" if it is only to be deleted."""
    alike = unicodedata.normalize("NFKC", character)
    kind = unicodedata.category(character)
    if character in MEANT:
        return MEANT[character]
    if unicodedata.decomposition(character).startswith("<super>"):
        return f"**{alike}"
    if alike.isascii() and alike.strip("\0"):
        return alike
    if kind in ("Pi", "Pf") or character in SINGLE or character == "„":
        return "'" if character in SINGLE else '"'
    return {"Zs": " ", "Pd": "-"}.get(kind, "")


def _plain(message: str) -> str:
    """Return Python's own words without what a page could take for its own."""
    if "inconsistent use of tabs" in message:
        return "tabs and spaces are mixed in its indentation: use four spaces for each step"
    return re.sub(r"[^\w ,.:;()\[\]{}'?=*-]", "?", message)

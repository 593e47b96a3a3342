"""Ids and names as text that does nothing where it is shown: in a table, a terminal, a page.

Students choose their names and file names. A spreadsheet runs a cell that begins like a formula, a
terminal obeys control characters, a browser runs markup; marks that turn the direction of writing
make a text read as another one.
"""

import csv
import html
import io
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from grader.course.wording import first

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
CONTROLS: Final = ("Cc", "Cs", "Zl", "Zp")  # Unicode's classes: controls, halves, line ends
UNSEEN: Final = (*CONTROLS, "Cf")  # and marks without a width: with one, an id looks like another's
JOINERS: Final = "\u200c\u200d"  # of this class, but they change letters of some scripts
Value = str | float | None


def line(text: str) -> str:
    """Return a text for one line of a terminal: what is not to be seen is written as a code."""
    return "".join(map(_visible, text, " " + text))


def lines(text: str) -> str:
    """Return a text of several lines likewise; line ends and tabs stay."""
    return "".join(
        c if c in "\n\t" else _visible(c, before)
        for c, before in zip(text, " " + text, strict=False)
    )


def few(names: Sequence[str], most: int = 12) -> str:
    """Return the first names, and how many are left out, for one line of a terminal."""
    return first(list(map(line, names)), most)


def _visible(character: str, before: str) -> str:
    if character in JOINERS and _is_joined(before):
        return character
    if unicodedata.category(character) in UNSEEN:
        return character.encode("unicode_escape", "surrogatepass").decode()
    return character


def _is_joined(letter: str) -> bool:
    """Return whether a joiner after it is seen: Arabic and Indic letters change, pictures merge."""
    is_arabic = unicodedata.bidirectional(letter) == "AL"
    return is_arabic or unicodedata.category(letter) in ("Mn", "Mc", "So", "Sk")


def markup(text: str) -> str:
    """Return a text for an HTML page, in an element or a quoted attribute."""
    return html.escape(line(text))


def cell(value: Value) -> str | float:
    """Return a value for a cell: numbers as they are, texts on one line and never a formula.

    A text that would be taken for a formula gets an apostrophe in front, which spreadsheets show as
    part of a text.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return value
    return ("'" if value.startswith(FORMULA) else "") + line(value)


def csv_text(rows: Iterable[Sequence[Value]]) -> str:
    """Return rows as CSV; every text is quoted, so that no comma or semicolon splits it."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerows([cell(value) for value in row] for row in rows)
    return stream.getvalue()

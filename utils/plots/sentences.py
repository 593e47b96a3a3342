"""A sentence and its tags in colour, and what changes when something is taken away."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.display import display

from utils.palette import INK, PLAIN_TINT, TINTS, WRONG


class TagTable:
    """One row of tags for each way of looking at a sentence; without a front end, as text.

    Args:
        words: the sentence.
        rows: what is said of each row -> a tag for each word, None where there is no word.
            The first row is what the others are compared with.

    """

    def __init__(self, words: Sequence[str], rows: Mapping[str, Sequence[str | None]]) -> None:
        self.words, self.rows = words, rows
        self.first = next(iter(rows.values()))
        counts = Counter(tag for tags in rows.values() for tag in tags if tag)
        often = [tag for tag, _ in counts.most_common(len(TINTS))]
        self.colours = dict(zip(often, TINTS, strict=False))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(word)}</th>" for word in ("", *self.words))
        body = "".join(self._row(name, tags) for name, tags in self.rows.items())
        return f"<table><tr>{head}</tr>{body}</table>"

    def _row(self, name: str, tags: Sequence[str | None]) -> str:
        cells = "".join(map(self._cell, tags, self.first))
        return f"<tr><th style='text-align: left'>{html.escape(name)}</th>{cells}</tr>"

    def _cell(self, tag: str | None, first: str | None) -> str:
        if tag is None:
            return "<td>–</td>"
        colour = self.colours.get(tag, PLAIN_TINT)
        style = f"background: {colour}; color: {INK}"
        if tag == first:
            return f"<td style='{style}'>{html.escape(tag)}</td>"
        return (
            f"<td style='{style}; outline: 3px solid {WRONG.ground}'><b>{html.escape(tag)}</b></td>"
        )

    def __repr__(self) -> str:
        """Return the rows as text, changed tags between asterisks."""
        return "\n".join(f"{name}: {self._text(tags)}" for name, tags in self.rows.items())

    def _text(self, tags: Sequence[str | None]) -> str:
        told = zip(self.words, tags, self.first, strict=True)
        return "  ".join(
            f"{word} {tag if tag == first or tag is None else f'*{tag}*'}"
            for word, tag, first in told
        )


def show_tags(words: Sequence[str], rows: Mapping[str, Sequence[str | None]]) -> None:
    """Show a sentence's tags, row by row; what differs from the first row is outlined.

    Raises:
        ValueError: a row has another number of tags than there are words.

    """
    for name, tags in rows.items():
        if len(tags) != len(words):
            raise ValueError(f"{name}: {len(tags)} tags for {len(words)} words")
    table: Any = TagTable(words, rows)
    display(table)  # type: ignore[no-untyped-call]

"""The card in which the course speaks to a student: one look for verdicts and guesses.

It has inline styles only, which survive every sanitizer. Ink and paper are the front end's if it
names both, else the card's own, so that they are read on any page, light or dark, and on paper.
"""

from html import escape

from utils.palette import EDGE, INK, PAPER

LINE = f"var(--jp-border-color2, {EDGE})"
_STYLE = (
    "box-sizing: border-box; width: 100%; max-width: 46em; margin: 4px 0; padding: 8px 14px 10px; "
    f"color: var(--jp-content-font-color1, {INK}); "
    f"background-color: var(--jp-layout-color1, {PAPER}); "
    f"border: 1px solid {LINE}; border-radius: 6px; line-height: 1.5; overflow-wrap: anywhere; "
    "break-inside: avoid; -webkit-print-color-adjust: exact; print-color-adjust: exact;"
)


class Card:
    """A card that a cell shows; where there is no front end, the same in words.

    Args:
        label: what the card is, for screen readers.
        colour: of its left edge.
        inside: HTML; its text is escaped already.
        text: what it says where there is only text.

    """

    def __init__(self, label: str, colour: str, inside: str, text: str) -> None:
        self._html, self._text = card(label, colour, inside), text

    def __repr__(self) -> str:
        """Return what the card says."""
        return self._text

    def _repr_html_(self) -> str:
        return self._html


def card(label: str, colour: str, inside: str) -> str:
    """Wrap HTML into a card.

    Args:
        label: what the card is, for screen readers.
        colour: of its left edge; it says nothing that the words do not say.
        inside: HTML; its text is escaped already.

    """
    style = f"{_STYLE} border-left: 6px solid {colour};"
    return f"<div role='group' aria-label='{escape(label)}' style='{style}'>{inside}</div>"

"""The card in which the course speaks to a student: one look for verdicts and guesses.

It has inline styles only, which survive every sanitizer. Ink and paper are the front end's if it
names both, else the card's own, so that they are read on any page, light or dark, and on paper.
"""

from html import escape

from utils.palette import INK, PAPER

LINE = "var(--jp-border-color2, #bdbdbd)"
_STYLE = (
    "box-sizing: border-box; width: 100%; max-width: 46em; margin: 4px 0; padding: 8px 14px 10px; "
    f"color: var(--jp-content-font-color1, {INK}); background: var(--jp-layout-color1, {PAPER}); "
    f"border: 1px solid {LINE}; border-radius: 6px; line-height: 1.5; overflow-wrap: anywhere; "
    "break-inside: avoid; -webkit-print-color-adjust: exact; print-color-adjust: exact;"
)


def card(label: str, colour: str, inside: str) -> str:
    """Wrap HTML into a card.

    Args:
        label: what the card is, for screen readers.
        colour: of its left edge; it says nothing that the words do not say.
        inside: HTML; its text is escaped already.

    """
    style = f"{_STYLE} border-left: 6px solid {colour};"
    return f"<div role='group' aria-label='{escape(label)}' style='{style}'>{inside}</div>"

"""Say something to a student, on a card as a verdict is; as text where there is no front end."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import escape

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from utils.card import card
from utils.kernel.runs import is_grading
from utils.palette import OPEN


def say(*lines: str) -> None:
    """Show lines, each a paragraph; what is between backticks is code."""
    if InteractiveShell.initialized() and not is_grading():
        sys.stdout.flush()  # what was printed before stands above
        display(as_bundle(lines), raw=True)  # type: ignore[no-untyped-call]
    else:
        sys.stdout.write("\n".join([*lines, ""]))


@contextmanager
def said_meanwhile(line: str) -> Iterator[None]:
    """Show a line while something runs, and take it away again for what is said next."""
    if InteractiveShell.initialized() and not is_grading():
        shown = display(as_bundle([line]), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            shown.update(as_bundle([]), raw=True)
    else:
        sys.stdout.write(line)
        sys.stdout.flush()
        try:
            yield
        finally:
            sys.stdout.write(f"\r{' ' * len(line)}\r")


def as_bundle(lines: Iterable[str]) -> dict[str, str]:
    """Return what a notebook shows of some lines: text, and HTML that breaks between words."""
    lines = tuple(lines)
    inside = "".join(f"<div>{_as_html(line)}</div>" for line in lines)
    html = card("The course says", OPEN.ground, inside) if lines else ""
    return {"text/plain": "\n".join(lines), "text/html": html}


def _as_html(line: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(line))

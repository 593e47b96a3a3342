"""Predictions on a page: a place to write one, and the result kept shut until it is opened.

What is written stays in the reader's browser; `site/static/predict.js` keeps it and shows it beside
the result.
"""

from typing import Any, Final

ASKS: Final = "**Predict"
PROMPT: Final = "Show what happens"


def asks_for_a_prediction(text: str) -> bool:
    """Return whether a lesson's text asks its reader to predict."""
    return ASKS in text


def form(name: str) -> str:
    """Return the HTML of a place to write a prediction; `name` is its key in the browser."""
    return (
        f'<label class="prediction">Your prediction <input type="text" data-prediction="{name}" '
        'autocomplete="off" placeholder="kept in this browser only"></label>'
    )


def kept_apart(cell: Any) -> None:
    """Fold a cell's results: what was predicted must not be read before."""
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
    cell.metadata["mystnb"] = {"code_prompt_show": PROMPT, "code_prompt_hide": "Hide it"}

"""The bar that shows how far a training is, in every lesson alike; TQDM_DISABLE=1 hides it."""

import os
import sys
from typing import Any, Final

from tqdm import tqdm

FORM: Final = "{desc} {percentage:3.0f}% |{bar:20}| {elapsed}<{remaining}{postfix}"
REFRESH: Final = 0.5  # seconds


def bar(title: str, steps: int, done: int = 0) -> "tqdm[Any]":
    """Return a bar, to be used in `with` and moved on by its `update()`.

    Args:
        title: what stands before it; "" hides it.
        steps: how many steps there are.
        done: how many of them are done already.

    """
    return tqdm(
        desc=title,
        total=steps,
        initial=done,
        bar_format=FORM,
        mininterval=REFRESH,
        file=sys.stdout,
        disable=not title or bool(os.environ.get("TQDM_DISABLE")),
    )

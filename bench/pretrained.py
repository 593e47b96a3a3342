"""What lesson 07 shows of the published model: `python -m bench pretrained`.

The lesson's own cells measure, where the model's files are; with English-EWT in the folder that
COURSE_DATA names, or the publisher at hand.
"""

from typing import Any

import matplotlib as mpl
import torch

from bench.lesson_code import cells

LESSON = "07_pretrained_encoder"
UNTOLD = ("recorded(", "summary()", "write_texts(")  # cells that measure nothing


def measure() -> dict[str, Any]:
    """Return the figures of the lesson's cells."""
    found: dict[str, Any] = lesson_names(UNTOLD)["lab"].found
    return found


def lesson_names(left_out: tuple[str, ...]) -> dict[str, Any]:
    """Run the lesson's cells but those that hold certain words, and return what they define.

    Raises:
        SystemExit: the published model is not here.

    """
    mpl.use("agg")
    torch.set_num_threads(1)
    names: dict[str, Any] = {"__name__": "__main__"}
    for source in cells(LESSON):
        if not any(word in source for word in left_out):
            exec(compile(source, "<lesson 07>", "exec"), names)
    if not names["lab"].files.is_real:
        raise SystemExit("The published model is not here: see COURSE_MODEL.")
    return names

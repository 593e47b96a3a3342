"""How large tensors a student's test may pass to a version, in notebooks as in grading.

In grading they travel to another process, which computes for every student.
"""

import math
from collections.abc import Iterable
from typing import Final

MOST_ARG_AXES: Final = 4  # of one argument
MOST_ENTRIES: Final = 1 << 15  # of one argument: 32 sentences of 16 words with 64 features each
MOST_SCORES: Final = 100_000  # of all arguments of a call, broadcast together


def require_small(given: Iterable[tuple[int, ...]]) -> None:
    """Refuse shapes that are large, or become large when broadcast together.

    Raises:
        ValueError: says what may be passed.

    """
    shapes = list(given)
    if any(len(shape) > MOST_ARG_AXES or math.prod(shape) > MOST_ENTRIES for shape in shapes):
        most = f"{MOST_ARG_AXES} axes and {MOST_ENTRIES} entries"
        raise ValueError(f"a test may pass tensors of at most {most}")
    padded = [(1,) * (MOST_ARG_AXES - len(shape)) + shape for shape in [(), *shapes]]
    *lead, rows, columns = (max(sizes) for sizes in zip(*padded, strict=True))
    if math.prod(lead) * rows * max(rows, columns) > MOST_SCORES:
        raise ValueError(f"these tensors together make more than {MOST_SCORES} scores")

"""The front page's example: a real wrong answer, and what the check really says of it."""

import runpy
from pathlib import Path
from typing import Final

from utils.checks.api import check
from utils.checks.render import as_html

EXERCISE: Final = "scaled_dot_product_attention"


def named_mistake(site: Path) -> str:
    """Return the verdict on `example.py`, which the front page shows above it, as HTML."""
    answer = runpy.run_path(str(site / "pages" / "example.py"))[EXERCISE]
    return as_html(getattr(check, EXERCISE).verdict(answer)) + "\n"

"""Write texts and their nearest by meaning as one HTML file that runs without a server."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from torch import Tensor

from utils.errors import UserError
from utils.palette import BLUE, SKY

TEMPLATE: Final = Path(__file__).parent / "texts.html"
NEAREST: Final = 5


def write_texts(path: str | Path, texts: Sequence[str], vectors: Tensor, about: str = "") -> str:
    """Write a page on which a click on a text shows those that are nearest to it.

    Args:
        path: of the file.
        texts: N of them, at least two.
        vectors: (N, D), of length 1: a product of two is their cosine.
        about: a sentence of yours.

    Returns:
        A line with the number of texts and the size of the file.

    Raises:
        UserError: there are fewer than two texts, or not a vector for each.

    """
    if len(texts) < 2 or len(texts) != len(vectors):
        raise UserError(
            f"{len(texts)} texts and {len(vectors)} vectors: give two texts or more, and a vector "
            "for each."
        )
    vectors = vectors.detach().cpu().float()
    cosines = (vectors @ vectors.T).fill_diagonal_(-2)  # a text is not its own neighbour
    best = cosines.topk(min(NEAREST, len(texts) - 1))
    near = [
        [[place, round(cosine, 2)] for place, cosine in zip(places, values, strict=True)]
        for places, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    data = json.dumps({"texts": list(texts), "near": near}).replace("</", "<\\/")
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        blue=BLUE, sky=SKY, about=escape(about), data=data
    )
    Path(path).write_text(page, encoding="utf-8")
    size = len(page.encode()) / 1e3
    return (
        f"{path}: {len(texts)} texts, {size:.0f} kB. Open it in any browser; in JupyterLab, then "
        "press Trust HTML."
    )

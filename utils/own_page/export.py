"""Write a student's trained tagger as one HTML file that runs without a server.

The page holds the weights in float16 and computes the encoder once more, in JavaScript. It holds
two sentences with PyTorch's logits, too, and says when it is opened how far its own lie from them.
"""

import base64
import copy
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

import torch
from torch import Tensor, nn

from utils.palette import BLUE, INK, PLAIN_TINT, SKY, TINTS, WRONG
from utils.treebank.affixes import Lexicon

TEMPLATE: Final = Path(__file__).parent / "page.html"
SCRIPT: Final = Path(__file__).parent / "page.js"
LONGEST: Final = 60  # words of a sentence on the page
SAMPLES: Final = 2


def write_page(
    path: str | Path,
    tagger: nn.Module,
    lexicon: Lexicon,
    tags: Sequence[str],
    sentences: Sequence[Sequence[str]],
    *,
    n_heads: int,
    base: float | None = None,
    source: str = "",
    about: str = "",
) -> str:
    """Write the page.

    Args:
        path: of the file.
        tagger: your Tagger, trained, around a post-norm encoder; it is left as it is.
        lexicon: which words and affixes the tagger knows.
        tags: their names, C of them.
        sentences: the first is shown when the page is opened; the first two are compared.
        n_heads: H.
        base: of rotary positions; None if the encoder adds its positions.
        source: what the tagger learned from, with its licence.
        about: a sentence of yours: your name, what surprised you.

    Returns:
        A line with the size of the file.

    """
    rounded = _rounded(tagger)
    arrays = _arrays(rounded)
    data = torch.cat([array.detach().flatten() for array in arrays.values()]).half()
    model = {
        "tags": list(tags),
        "words": sorted(lexicon.vocab, key=lexicon.vocab.__getitem__),
        "kinds": [sorted(kind, key=kind.__getitem__) for kind in lexicon.kinds],
        "scale": _scale(rounded.encoder.embedding),
        "positions": _positions(rounded.encoder),
        "layers": len(rounded.encoder.layers),
        "heads": n_heads,
        "base": base,
        "arrays": [[name, list(array.shape)] for name, array in arrays.items()],
        "samples": [_sample(rounded, lexicon, words) for words in sentences[:SAMPLES]],
        "tints": [*TINTS, PLAIN_TINT],
        "weights": base64.b64encode(data.numpy().astype("<f2").tobytes()).decode("ascii"),
    }
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        ink=INK,
        blue=BLUE,
        sky=SKY,
        red=WRONG.ground,
        about=escape(about),
        source=escape(source),
        model=json.dumps(model).replace("</", "<\\/"),
        script=SCRIPT.read_text(encoding="utf-8"),
    )
    Path(path).write_text(page, encoding="utf-8")
    size = len(page.encode()) / 1e6
    return f"{path}: {size:.1f} MB. Open it in any browser; in JupyterLab, then press Trust HTML."


def _rounded(tagger: nn.Module) -> Any:
    """Return a copy on the CPU whose weights are what float16 keeps of them."""
    rounded = copy.deepcopy(tagger).cpu().float().eval()
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.half().float())
    return rounded


def _arrays(tagger: Any) -> dict[str, Tensor]:
    """Return the weights by the names that the page has for them."""
    encoder = tagger.encoder
    found = {"words": _table(encoder.embedding)}
    found |= {f"kind {n}": _table(table) for n, table in enumerate(tagger.features)}
    for number, layer in enumerate(encoder.layers):
        name, inner = f"layer {number}", getattr(layer, "layer", layer)
        if inner is not layer:
            found |= _named(f"{name} neighbours", layer.neighbours.conv)
        for part in ("w_q", "w_k", "w_v", "w_o"):
            found |= _named(f"{name} {part}", getattr(inner.self_attention, part))
        found |= _named(f"{name} norm_1", inner.norm_1) | _named(f"{name} norm_2", inner.norm_2)
        found |= _named(f"{name} linear_1", inner.feed_forward.linear_1)
        found |= _named(f"{name} linear_2", inner.feed_forward.linear_2)
    return found | _named("output", tagger.output)


def _table(embedding: nn.Module) -> Tensor:
    return next(embedding.parameters())


@torch.no_grad()
def _scale(embedding: nn.Module) -> float:
    """Return by what an embedding multiplies the rows of its table."""
    table = _table(embedding)
    given = embedding(torch.arange(len(table))[None])[0]
    return float((given * table).sum() / table.square().sum())


@torch.no_grad()
def _positions(encoder: Any) -> list[list[float]]:
    """Return what the encoder adds to a word at each place, (LONGEST, D)."""
    nothing = torch.zeros(1, LONGEST, _table(encoder.embedding).shape[1])
    added: list[list[float]] = encoder.positions(nothing)[0].tolist()
    return [[round(number, 7) for number in row] for row in added]


def _named(name: str, part: Any) -> dict[str, Tensor]:
    return {f"{name} weight": part.weight, f"{name} bias": part.bias}


@torch.no_grad()
def _sample(tagger: Any, lexicon: Lexicon, words: Sequence[str]) -> dict[str, Any]:
    """Return a sentence, and PyTorch's logits for it."""
    own = lexicon.of_words(words)
    ids = torch.tensor([[own[word] for word in words]])
    return {"words": list(words), "logits": own.around(tagger).eval()(ids)[0].tolist()}

"""The way of the data through lessons 01 to 06, one diagram each."""

from utils.drawn.frame import Drawn
from utils.drawn.layout import Box, Way


def way(name: str) -> Drawn:
    """Show one of the course's diagrams.

    Args:
        name: one of `WAYS`.

    Raises:
        KeyError: there is no such diagram.

    """
    one = WAYS[name]
    return Drawn(one.title, one.alt, one.draw(), one.size)


RECURRENT = Way(
    "From sequence to sequence with a recurrent network",
    "An encoder reads x1, x2, x3, one state of size (B, Hd) after another. Its last state alone "
    "goes into the decoder, which begins with the begin token, gives y1, takes y1 in, gives y2.",
    {
        "x1": Box(0, 2, "x₁", "data"), "x2": Box(1, 2, "x₂", "data"), "x3": Box(2, 2, "x₃", "data"),
        "h1": Box(0, 1, "cell", "learned"), "h2": Box(1, 1, "same cell", "learned"),
        "h3": Box(2, 1, "same cell", "learned"),
        "s1": Box(3.4, 1, "decoder cell", "learned"), "s2": Box(4.5, 1, "same cell", "learned"),
        "bos": Box(3.4, 2, "begin", "data"), "in": Box(4.5, 2, "y₁", "data"),
        "y1": Box(3.4, 0, "y₁", "data"), "y2": Box(4.5, 0, "y₂", "data"),
    },
    [
        ("x1", "h1", "(B, I)"), ("x2", "h2", "(B, I)"), ("x3", "h3", "(B, I)"),
        ("h1", "h2", "h₁"), ("h2", "h3", "h₂"), ("h3", "s1", "h₃ (B, Hd): all of it"),
        ("s1", "s2", ""), ("bos", "s1", ""), ("in", "s2", ""),
        ("s1", "y1", "logits (B, V)"), ("s2", "y2", "logits (B, V)"),
    ],
    [(1, 0, "encoder")],
)  # fmt: skip

ATTENTION = Way(
    "Scaled dot-product attention",
    "Queries (B, T, Dk) and keys (B, S, Dk) are multiplied to scores (B, T, S), divided by the "
    "root of Dk, masked, and made weights by a softmax over S. Weights times values (B, S, Dv) "
    "give the output (B, T, Dv).",
    {
        "q": Box(0, 0, "queries Q", "data"), "k": Box(0, 1, "keys K", "data"),
        "v": Box(0, 2, "values V", "data"), "product": Box(1.1, 0.5, "Q · Kᵀ"),
        "scale": Box(2.2, 0.5, "÷ √Dk"), "mask": Box(3.3, 0.5, "mask: −∞"),
        "softmax": Box(4.4, 0.5, "softmax over S"), "mix": Box(4.4, 2, "weights · V"),
        "out": Box(5.6, 2, "output", "data"),
    },
    [
        ("q", "product", "(B, T, Dk)"), ("k", "product", "(B, S, Dk)"),
        ("product", "scale", ""), ("scale", "mask", ""), ("mask", "softmax", ""),
        ("softmax", "mix", "weights (B, T, S)"), ("v", "mix", "(B, S, Dv)"),
        ("mix", "out", ""),
    ],
    [(2.2, 1.1, "scores (B, T, S)"), (5.6, 1.4, "(B, T, Dv)")],
)  # fmt: skip

HEADS = Way(
    "Multi-head attention: split, attend, merge",
    "x (B, T, D) is projected to (B, T, D), split into H heads (B, H, T, Dh), each head attends "
    "by itself, the heads are merged to (B, T, D), and w_o mixes what they found.",
    {
        "x": Box(0, 1, "x", "data"), "w": Box(1.1, 1, "w_q, w_k, w_v", "learned"),
        "split": Box(2.25, 1, "split"), "h1": Box(3.5, 0, "head 0 attends"),
        "h2": Box(3.5, 1, "head 1 attends"), "h3": Box(3.5, 2, "head 2 attends"),
        "merge": Box(4.8, 1, "merge"), "w_o": Box(5.9, 1, "w_o", "learned"),
    },
    [
        ("x", "w", ""), ("w", "split", ""), ("split", "h1", ""), ("split", "h2", ""),
        ("split", "h3", ""), ("h1", "merge", ""), ("h2", "merge", ""), ("h3", "merge", ""),
        ("merge", "w_o", ""),
    ],
    [(0.55, 0.4, "(B, T, D)"), (1.65, 0.4, "(B, T, D)"), (2.3, 2.1, "each (B, T, Dh)"),
     (2.25, 0.1, "(B, H, T, Dh)"), (4.8, 0.1, "(B, H, T, Dh)"), (5.4, 0.4, "(B, T, D)")],
)  # fmt: skip

POSITIONS = Way(
    "Where positions enter: added, or turned",
    "Above, a table of positions (T, D) is added to the words (B, T, D) before everything else. "
    "Below, nothing is added: queries and keys of each head are turned by their positions just "
    "before their product; values are not.",
    {
        "words": Box(0, 0, "words", "data"), "table": Box(0, 1, "positions", "data"),
        "sum": Box(1.2, 0, "+", "sum"), "qkv": Box(2.4, 0, "w_q, w_k, w_v", "learned"),
        "scores": Box(3.6, 0, "Q · Kᵀ"),
        "words2": Box(0, 2.4, "words", "data"), "qkv2": Box(1.2, 2.4, "w_q, w_k, w_v", "learned"),
        "turn": Box(2.4, 2.4, "turn q and k", "sum"), "scores2": Box(3.6, 2.4, "Q · Kᵀ"),
    },
    [
        ("words", "sum", ""), ("table", "sum", "(T, D)"), ("sum", "qkv", ""),
        ("qkv", "scores", ""), ("words2", "qkv2", ""), ("qkv2", "turn", ""),
        ("turn", "scores2", ""),
    ],
    [(2.4, 0.7, "added: (B, T, D) once, at the start"),
     (2.4, 1.8, "rotary: (B, H, T, Dh) in every layer; v stays")],
)  # fmt: skip


def _layer(norm_first: bool, row: float) -> tuple[dict[str, Box], list[tuple[str, str, str]]]:
    """Lay out one encoder layer in a row, with the residuals above it."""
    steps = ("norm", "attention", "+", "norm", "feed-forward", "+")
    order = (0, 1, 2, 3, 4, 5) if norm_first else (1, 2, 0, 4, 5, 3)
    boxes, arrows = {f"x{row}": Box(0, row, "x", "data")}, []
    for place, step in enumerate(order, start=1):
        kind = "sum" if steps[step] == "+" else "learned"
        boxes[f"{row}-{place}"] = Box(1.0 * place, row, steps[step], kind)
    names = list(boxes)
    arrows = [(a, b, "") for a, b in zip(names, names[1:], strict=False)]
    starts = (0, 3) if norm_first else (0, 3)
    ends = (3, 6) if norm_first else (2, 5)
    for start, end in zip(starts, ends, strict=True):
        bend = f"{row}-past-{start}"
        boxes[bend] = Box((start + end) / 2, row - 0.8, "x itself", "data")
        arrows += [(names[start], bend, ""), (bend, names[end], "")]
    return boxes, arrows


def _both_orders() -> Way:
    after, after_arrows = _layer(norm_first=False, row=0.9)
    before, before_arrows = _layer(norm_first=True, row=2.9)
    return Way(
        "An encoder layer, with the norm after and before",
        "Every arrow carries (B, T, D). Above, post-norm: attention, add x, norm, feed-forward, "
        "add, norm. Below, pre-norm: norm, attention, add x, norm, feed-forward, add. Only in "
        "pre-norm does x reach the end without passing a norm.",
        {**after, **before},
        after_arrows + before_arrows,
        [(0, 0, "post-norm"), (0, 2.1, "pre-norm"), (6, 0.1, "all (B, T, D)")],
    )


TRAINING = Way(
    "From text to loss",
    "Sentences become ids (B, T) and features (B, T, F); embeddings are summed to (B, T, D); the "
    "encoder gives (B, T, D), a linear layer logits (B, T, C). The loss compares them with the "
    "tags (B, T) and leaves padding out.",
    {
        "text": Box(0, 0.5, "sentences", "data"), "ids": Box(1.2, 0, "word ids", "data"),
        "features": Box(1.2, 1, "affix ids", "data"), "embed": Box(2.5, 0.5, "embed, sum", "learned"),
        "encoder": Box(3.7, 0.5, "your encoder", "learned"), "linear": Box(4.9, 0.5, "linear", "learned"),
        "loss": Box(4.9, 2, "loss", "sum"), "tags": Box(1.2, 2, "tags", "data"),
    },
    [
        ("text", "ids", ""), ("text", "features", ""), ("ids", "embed", "(B, T)"),
        ("features", "embed", "(B, T, F)"), ("embed", "encoder", ""), ("encoder", "linear", ""),
        ("linear", "loss", "logits (B, T, C)"), ("text", "tags", ""),
        ("tags", "loss", "(B, T); padding is −100 and does not count"),
    ],
    [(3.1, -0.1, "(B, T, D)"), (4.3, -0.1, "(B, T, D)")],
)  # fmt: skip

WAYS = {
    "recurrent": RECURRENT,
    "attention": ATTENTION,
    "heads": HEADS,
    "positions": POSITIONS,
    "encoder layer": _both_orders(),
    "training": TRAINING,
}

"""The way of the data through lessons 01 to 06, one each."""

from itertools import pairwise

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
    "From sequence to sequence with a recurrent network, which reverses a b",
    "An encoder reads a and b, one state of size (B, Hd) after another. Its last state alone goes "
    "into the decoder, which begins with the begin token and writes b, reads b and writes a, reads "
    "a and writes the end token.",
    {
        "x1": Box(0, 2, "a", "data"), "x2": Box(1, 2, "b", "data"),
        "h1": Box(0, 1, "cell", "learned"), "h2": Box(1, 1, "same cell", "learned"),
        "s1": Box(2.4, 1, "decoder cell", "learned"), "s2": Box(3.5, 1, "same cell", "learned"),
        "s3": Box(4.6, 1, "same cell", "learned"),
        "in1": Box(2.4, 2, "begin", "data"), "in2": Box(3.5, 2, "b", "data"),
        "in3": Box(4.6, 2, "a", "data"),
        "y1": Box(2.4, 0, "b", "data"), "y2": Box(3.5, 0, "a", "data"),
        "y3": Box(4.6, 0, "end", "data"),
    },
    [
        ("y1", "in2", ""), ("y2", "in3", ""),
        ("x1", "h1", "(B, I)"), ("x2", "h2", "(B, I)"),
        ("h1", "h2", "h₁"), ("h2", "s1", "h₂ (B, Hd)"), ("s1", "s2", ""), ("s2", "s3", ""),
        ("in1", "s1", ""), ("in2", "s2", ""), ("in3", "s3", ""),
        ("s1", "y1", ""), ("s2", "y2", ""), ("s3", "y3", "logits (B, V)"),
    ],
    [(0.5, 0, "encoder")],
)  # fmt: skip

LOOKING_BACK = Way(
    "A decoder that looks back at every state of the encoder",
    "The decoder's state is the query (B, Dq). It is scored against the encoder's states (B, S, "
    "Dk), the keys: scores (B, S), made weights (B, S) by a softmax. Weights times the same "
    "states, as values (B, S, Dv), give the context (B, Dv), which the decoder cell reads beside "
    "the symbol just written. Its new state and the context give the next symbol; then it is the "
    "query.",
    {
        "query": Box(0, 0, "state = query", "data"), "scores": Box(1.1, 0, "scores"),
        "softmax": Box(2.3, 0, "softmax (S)"),
        "encoder": Box(0, 1.8, "encoder", "learned"), "states": Box(1.1, 1.8, "h₁ … h_S", "data"),
        "mix": Box(2.3, 1.8, "weighted sum"), "cell": Box(3.65, 1.8, "decoder cell", "learned"),
        "written": Box(3.65, 2.8, "last symbol", "data"),
        "state": Box(4.85, 1.8, "new state", "data"), "next": Box(4.85, 0, "next symbol", "data"),
    },
    [
        ("query", "scores", "(B, Dq)"), ("encoder", "states", "(B, S, Dk)"),
        ("states", "scores", "keys (B, S, Dk)"), ("scores", "softmax", "(B, S)"),
        ("softmax", "mix", "weights (B, S)"), ("states", "mix", "values"),
        ("mix", "cell", "context (B, Dv)"), ("written", "cell", ""), ("cell", "state", "(B, Dq)"),
        ("state", "next", "logits (B, V)"), ("mix", "next", ""),
    ],
)  # fmt: skip

ATTENTION = Way(
    "Scaled dot-product attention",
    "Queries (B, T, Dk) and keys (B, S, Dk) are multiplied to scores (B, T, S), divided by the "
    "root of Dk, masked, and made weights by a softmax over S. Weights times values (B, S, Dv) "
    "give the output (B, T, Dv).",
    {
        "q": Box(0, 0, "queries Q", "data"), "k": Box(0, 1, "keys K", "data"),
        "v": Box(0, 2, "values V", "data"), "product": Box(1.1, 0, "Q · Kᵀ"),
        "scale": Box(2.2, 0, "÷ √Dk, mask"), "softmax": Box(3.3, 0, "softmax (S)"),
        "mix": Box(3.3, 2, "weights · V"), "out": Box(4.4, 2, "output", "data"),
    },
    [
        ("q", "product", "(B, T, Dk)"), ("k", "product", "(B, S, Dk)"),
        ("product", "scale", "(B, T, S)"), ("scale", "softmax", "(B, T, S)"),
        ("softmax", "mix", "weights (B, T, S)"), ("v", "mix", "(B, S, Dv)"),
        ("mix", "out", "(B, T, Dv)"),
    ],
    [(2.2, 0.8, "forbidden scores become −∞")],
)  # fmt: skip

HEADS = Way(
    "Multi-head attention: project, split, attend, merge",
    "A query (B, T, D), keys and values (B, S, D) are projected by w_q, w_k, w_v and split into "
    "H heads of Dh features. Each head by itself: scores (B, H, T, S), mask, softmax, weights "
    "times its values, (B, H, T, Dh). The heads are merged to (B, T, D), and w_o mixes what they "
    "found.",
    {
        "query": Box(0, 0, "query", "data"), "key": Box(0, 1, "key", "data"),
        "value": Box(0, 2, "value", "data"),
        "w_q": Box(1, 0, "w_q", "learned"), "w_k": Box(1, 1, "w_k", "learned"),
        "w_v": Box(1, 2, "w_v", "learned"),
        "split q": Box(2, 0, "split"), "split k": Box(2, 1, "split"),
        "split v": Box(2, 2, "split"), "scores": Box(3.2, 0, "scores, mask"),
        "softmax": Box(4.3, 0, "softmax (S)"), "mix": Box(4.3, 2, "weights · V"),
        "merge": Box(5.5, 2, "merge"), "w_o": Box(5.5, 1, "w_o", "learned"),
        "out": Box(5.5, 0, "output", "data"),
    },
    [
        ("query", "w_q", "(B, T, D)"), ("key", "w_k", "(B, S, D)"), ("value", "w_v", "(B, S, D)"),
        ("w_q", "split q", "(B, T, D)"), ("w_k", "split k", "(B, S, D)"),
        ("w_v", "split v", "(B, S, D)"), ("split q", "scores", "(B, H, T, Dh)"),
        ("split k", "scores", "(B, H, S, Dh)"), ("scores", "softmax", "(B, H, T, S)"),
        ("softmax", "mix", "weights (B, H, T, S)"), ("split v", "mix", "(B, H, S, Dh)"),
        ("mix", "merge", "(B, H, T, Dh)"), ("merge", "w_o", "(B, T, D)"),
        ("w_o", "out", "(B, T, D)"),
    ],
    [(3.35, 1.5, "each head by itself")],
)  # fmt: skip

POSITIONS = Way(
    "Where positions enter: added, or turned",
    "Above, a table of positions (T, D) is added to the words (B, T, D) once, before the first "
    "layer. Below, nothing is added: in every layer the queries and keys (B, H, T, Dh) are turned "
    "by their positions just before their product; values are not.",
    {
        "words": Box(0, 0, "words", "data"), "table": Box(0, 1, "positions", "data"),
        "sum": Box(1.1, 0, "+", "sum"), "qkv": Box(2.2, 0, "w_q, w_k, w_v", "learned"),
        "scores": Box(4.6, 0, "Q · Kᵀ"),
        "words2": Box(0, 2.4, "words", "data"), "qkv2": Box(2.2, 2.4, "w_q, w_k, w_v", "learned"),
        "turn": Box(3.4, 2.4, "turn q and k", "sum"), "scores2": Box(4.6, 2.4, "Q · Kᵀ"),
    },
    [
        ("words", "sum", "(B, T, D)"), ("table", "sum", "(T, D)"), ("sum", "qkv", "(B, T, D)"),
        ("qkv", "scores", "q and k, (B, H, T, Dh)"), ("words2", "qkv2", "(B, T, D)"),
        ("qkv2", "turn", "(B, H, T, Dh)"), ("turn", "scores2", "(B, H, T, Dh)"),
    ],
    [(2.2, 0.8, "added: once, before the first layer"),
     (2.2, 1.75, "rotary: in every layer; v stays as it is")],
)  # fmt: skip


def _layer(norm_first: bool, row: float) -> tuple[dict[str, Box], list[tuple[str, str, str]]]:
    """Lay out one encoder layer in a row, with the residuals above it."""
    steps = ("norm", "attention", "+", "norm", "feed-forward", "+")
    order = (0, 1, 2, 3, 4, 5) if norm_first else (1, 2, 0, 4, 5, 3)
    boxes, arrows = {f"x{row}": Box(0, row, "x", "data")}, []
    for place, step in enumerate(order, start=1):
        kind = "sum" if steps[step] == "+" else "learned"
        boxes[f"{row}-{place}"] = Box(0.86 * place, row, steps[step], kind)
    names = list(boxes)
    arrows = [(a, b, "") for a, b in pairwise(names)]
    for start, end in ((0, 3), (3, 6)) if norm_first else ((0, 2), (3, 5)):
        bend = f"{row}-past-{start}"
        boxes[bend] = Box(0.43 * (start + end), row - 0.8, "x itself", "data")
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
        [(0, 0, "post-norm"), (0, 2.1, "pre-norm"), (5.16, 0.1, "all (B, T, D)")],
    )


TRAINING = Way(
    "From text to loss",
    "Sentences become word ids (B, T) and affix ids (B, T, K); their embeddings are summed to "
    "(B, T, D); the encoder gives (B, T, D), a linear layer logits (B, T, C). The loss compares "
    "them with the tags (B, T) and leaves padding out.",
    {
        "text": Box(0, 0, "sentences", "data"), "ids": Box(1, 0, "word ids", "data"),
        "features": Box(1, 1, "affix ids", "data"), "tags": Box(1, 2, "tags", "data"),
        "embed": Box(2.1, 0, "embed, sum", "learned"),
        "encoder": Box(3.2, 0, "your encoder", "learned"),
        "linear": Box(4.3, 0, "linear", "learned"), "loss": Box(4.3, 2, "loss", "sum"),
    },
    [
        ("text", "ids", ""), ("text", "features", ""), ("text", "tags", ""),
        ("ids", "embed", "(B, T)"), ("features", "embed", "(B, T, K)"),
        ("embed", "encoder", "(B, T, D)"), ("encoder", "linear", "(B, T, D)"),
        ("linear", "loss", "(B, T, C)"),
        ("tags", "loss", "(B, T), padding is −100 and does not count"),
    ],
)  # fmt: skip

WAYS = {
    "recurrent": RECURRENT,
    "looking back": LOOKING_BACK,
    "attention": ATTENTION,
    "heads": HEADS,
    "positions": POSITIONS,
    "encoder layer": _both_orders(),
    "training": TRAINING,
}

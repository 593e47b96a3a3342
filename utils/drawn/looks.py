"""Where attention looks: one query followed by hand, and several heads side by side."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from utils.drawn.frame import (
    INK,
    Drawn,
    button,
    choice,
    element,
    line,
    slider,
    words,
)
from utils.palette import BLUE

if TYPE_CHECKING:  # the start page draws, too, where torch is not to be loaded
    from torch import Tensor

ROW, TOP = 36, 52
LEAST_SEEN = 0.03  # opacity of a line that carries nothing
SIZES = (3, 12, 48, 192, 768)  # what the slider of d_k offers


def attention_by_hand(
    names: Sequence[str], q: "Tensor", k: "Tensor", v: "Tensor", query: int = 0
) -> Drawn:
    """Follow one query: its products with all keys, the weights, and the mixture of values.

    With the slider for d_k the same words are compared over more features: the spread of products
    of independent features grows with the square root of their number.

    Args:
        names: T words.
        q: queries (T, Dk), small whole numbers.
        k: keys (T, Dk).
        v: values (T, Dv).
        query: the word that is chosen at first.

    """
    products, values = (q @ k.T).tolist(), v.tolist()
    scaled = [product / math.sqrt(q.shape[-1]) for product in products[query]]
    weights = _softmax(scaled)
    rows = [
        _row(
            i,
            name,
            product=products[query][i],
            scaled=scaled[i],
            weight=weights[i],
            value=_vector(values[i]),
        )
        for i, name in enumerate(names)
    ]
    mixed = [
        sum(w * row[d] for w, row in zip(weights, values, strict=True))
        for d in range(len(values[0]))
    ]
    end = TOP + ROW * len(names)
    drawing = [
        *(words(x, 20, text, class_="strong") for x, text in _HEADINGS),
        *(button(f"query-{i}", 4, TOP + ROW * i, 84, name, chosen=i == query)
          for i, name in enumerate(names)),
        *(_look(query, i, w) for i, w in enumerate(weights)),
        *rows,
        line(560, end - 14, 740, end - 14),
        words(560, end + 8, "mixed:", class_="strong"),
        words(640, end + 8, _vector(mixed), data_part="mixed", class_="strong"),
    ]  # fmt: skip
    alt = _by_hand_in_words(names, query, products[query], weights, mixed)
    controls = (
        slider("size", "features d_k", len(SIZES) - 1, 0)
        + choice("scaled", "divide by √d_k", {"yes": "yes", "no": "no"})
        + choice(
            "mask",
            "mask",
            {
                "none": "none",
                "causal": "causal: no word to come",
                "padding": "the last word is padding",
            },
        )
    )
    data = {"names": list(names), "products": products, "values": values, "query": query,
            "features": q.shape[-1], "sizes": SIZES, "top": TOP, "row": ROW}  # fmt: skip
    return Drawn(
        "Choose a query, and follow it to its mixed value", alt, "".join(drawing),
        (660 + 45 * len(values[0]), end + 20),
        controls=controls, script="by_hand.js", data=data,
    )  # fmt: skip


def _by_hand_in_words(
    names: Sequence[str],
    query: int,
    products: Sequence[float],
    weights: Sequence[float],
    mixed: Sequence[float],
) -> str:
    looks = zip(names, products, weights, strict=True)
    return (
        f"The query of '{names[query]}' and its product with the key of each word, scaled, as a "
        "weight, and the values: "
        + "; ".join(f"{name} {product:g}, weight {weight:.2f}" for name, product, weight in looks)
        + f". The values mixed by these weights: {_vector(mixed)}."
    )


_HEADINGS = (
    (8, "query"),
    (208, "key"),
    (290, "q · k"),
    (360, "scaled"),
    (450, "weight"),
    (640, "value"),
)


def _softmax(scores: Sequence[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def _vector(entries: Sequence[float]) -> str:
    return f"({', '.join(f'{entry:.2f}' for entry in entries)})"


def _look(query: int, key: int, weight: float) -> str:
    """Draw the line from the query's word to a key's, as strong as the weight."""
    return line(
        92, TOP - 5 + ROW * query, 198, TOP - 5 + ROW * key, stroke=BLUE, class_="moves",
        data_part=f"line-{key}", stroke_width=f"{1 + 5 * weight:.2f}",
        opacity=f"{max(weight, LEAST_SEEN):.2f}",
    )  # fmt: skip


def _row(i: int, name: str, *, product: float, scaled: float, weight: float, value: str) -> str:
    y = TOP + ROW * i
    return "".join((
        words(208, y, name),
        words(330, y, f"{product:.1f}", text_anchor="end", data_part=f"product-{i}"),
        words(406, y, f"{scaled:.2f}", text_anchor="end", data_part=f"scaled-{i}"),
        element("rect", x=450, y=y - 15, width=f"{120 * weight:.1f}", height=20, fill=BLUE,
                class_="moves", data_part=f"bar-{i}"),
        words(580, y, f"{weight:.2f}", data_part=f"weight-{i}"),
        words(640, y, value),
    ))  # fmt: skip


def heads(maps: "Mapping[str, Tensor]", queries: Sequence[str], keys: Sequence[str]) -> Drawn:
    """Show heads side by side: choose a query, and see where each of them looks.

    Args:
        maps: name of a head -> its weights (T, S); what is no number counts as 0.
        queries: T names.
        keys: S names.

    """
    shares = {
        name: [[round(float(w), 2) for w in row] for row in one.nan_to_num()]
        for name, one in maps.items()
    }
    left, width, end = 190, 128, TOP + 26 * len(keys)
    drawing = [
        words(8, 20, "query", class_="strong"),
        *(button(f"query-{i}", 4, TOP + 32 * i, 96, name, chosen=i == 0)
          for i, name in enumerate(queries)),
        *(words(left - 8, TOP + 26 * s, key, text_anchor="end") for s, key in enumerate(keys)),
        *(_head(h, name, rows[0], left + width * h, keys)
          for h, (name, rows) in enumerate(shares.items())),
    ]  # fmt: skip
    said = "; ".join(f"{name}: {_most(rows[0], keys)}" for name, rows in shares.items())
    return Drawn(
        "Choose a query, and see where each head looks",
        f"Weights of {len(shares)} heads for the query '{queries[0]}'. Most weight, {said}.",
        "".join(drawing),
        (left + width * len(shares), max(end, TOP + 32 * len(queries))),
        script="heads.js",
        data={"queries": list(queries), "keys": list(keys), "shares": shares},
    )


def _head(h: int, name: str, row: Sequence[float], x: int, keys: Sequence[str]) -> str:
    """Draw one head's bars for one query."""
    bars = (
        element("rect", x=x, y=TOP - 15 + 26 * s, width=100, height=20, fill=INK, fill_opacity=0.06)
        + element("rect", x=x, y=TOP - 15 + 26 * s, width=f"{100 * row[s]:.0f}", height=20,
                  fill=BLUE, class_="moves", data_part=f"bar-{h}-{s}")
        for s in range(len(keys))
    )  # fmt: skip
    return words(x, 20, name, class_="strong", font_size=11) + "".join(bars)


def _most(row: Sequence[float], keys: Sequence[str]) -> str:
    share, place = max((share, -s) for s, share in enumerate(row))
    return f"{keys[-place]} {share:.2f}"

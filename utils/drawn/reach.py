"""Which tokens can influence which: the ways through the layers of an encoder."""

from collections.abc import Sequence

from utils.drawn.frame import INK, Drawn, button, choice, element, line, slider, words
from utils.palette import BLUE

STEP, ROW, TOP, LEFT = 92, 52, 34, 76
MOST_LAYERS = 5


def reach(names: Sequence[str], chosen: int = 2) -> Drawn:
    """Show by which ways inputs reach the chosen output, for a mask and a number of layers.

    Args:
        names: T tokens.
        chosen: the output that is chosen at first, with two layers and no mask.

    """
    length, depth = len(names), 2
    everyone = range(length)
    bottom = TOP + ROW * MOST_LAYERS
    ways = [
        line(_x(s), TOP + ROW * (MOST_LAYERS - layer), _x(t), TOP + ROW * (MOST_LAYERS - 1 - layer),
             data_part=f"way-{layer}-{s}-{t}", stroke=BLUE, stroke_width=1.5, class_="moves",
             opacity=0.45 if layer == 0 or (layer < depth and t == chosen) else 0)
        for layer in range(MOST_LAYERS) for s in everyone for t in everyone
    ]  # fmt: skip
    dots = [
        element("circle", cx=_x(t), cy=TOP + ROW * (MOST_LAYERS - layer), r=8, fill=BLUE,
                stroke=INK, data_part=f"dot-{layer}-{t}", class_="moves",
                opacity=1 if layer < depth or (layer == depth and t == chosen) else 0.15)
        for layer in range(MOST_LAYERS + 1) for t in everyone
    ]  # fmt: skip
    labels = [
        words(4, TOP + 4 + ROW * (MOST_LAYERS - layer), f"layer {layer}" if layer else "input")
        for layer in range(MOST_LAYERS + 1)
    ]
    tokens = [
        button(f"token-{t}", _x(t) - 38, bottom + 40, 76, name, chosen=t == chosen)
        for t, name in enumerate(names)
    ]
    masks = {"none": "none", "padding": "the last token is padding", "causal": "causal",
             "near": "neighbours only"}  # fmt: skip
    return Drawn(
        "Which inputs can reach an output",
        f"A grid of {length} tokens by {MOST_LAYERS} layers. With full attention and {depth} "
        f"layers, every input reaches the output of '{names[chosen]}', and one layer would do.",
        "".join([*ways, *dots, *labels, *tokens]),
        (LEFT + STEP * length, bottom + 60),
        controls=slider("layers", "layers", MOST_LAYERS, depth, least=1)
        + choice("mask", "mask", masks),
        script="reach.js",
        data={"names": list(names), "chosen": chosen, "most": MOST_LAYERS},
    )


def _x(token: int) -> float:
    return LEFT + STEP * token + STEP / 2

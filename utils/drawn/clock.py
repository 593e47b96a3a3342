"""Positions as a clock: a hand for each pair of columns, and queries and keys that it turns."""

import math

from utils.drawn.frame import INK, Drawn, element, line, play, slider, words
from utils.palette import BLUE, ORANGE

RADIUS, STEP, MIDDLE = 60, 176, 84
BASES = (2, 10, 100, 1000, 10000)  # what the slider of the base offers


def clock(n_pairs: int = 4, position: int = 1) -> Drawn:
    """Show a row of the sinusoidal table as hands of a clock, with sliders for place and base.

    Args:
        n_pairs: D / 2 hands.
        position: the place that is shown at first, under the base 10,000.

    """
    angles = [position * BASES[-1] ** (-i / n_pairs) for i in range(n_pairs)]
    dials = [
        _dial(i, f"columns {2 * i} and {2 * i + 1}", {"hand": (angle, BLUE)})
        + words(_middle(i), 182, _numbers(angle), text_anchor="middle", data_part=f"numbers-{i}")
        for i, angle in enumerate(angles)
    ]
    said = "; ".join(f"pair {i} at {angle:.3f}" for i, angle in enumerate(angles))
    return Drawn(
        "A clock with a hand for each pair of columns",
        f"{n_pairs} dials, at position {position}. Angles in radians: {said}.",
        "".join(dials),
        (STEP * n_pairs, 200),
        controls=slider("position", "position p", 60, position)
        + play("position")
        + slider("base", "base", len(BASES) - 1, len(BASES) - 1),
        script="clock.js",
        data={"pairs": n_pairs, "bases": BASES, "radius": RADIUS, "step": STEP, "middle": MIDDLE},
    )


def turned_pair(speeds: tuple[float, ...] = (1.0, 0.3, 0.1), apart: int = 3) -> Drawn:
    """Show a query and a key turned by their positions, and the score, which knows their distance.

    Args:
        speeds: the angle of each pair of columns for one position.
        apart: how many positions the key stands before the query at first.

    """
    turned = [((apart * speed), 0.0) for speed in speeds]
    dials = [
        _dial(i, f"pair {i}: {speed:g} rad a step", {"query": (q, ORANGE), "key": (k, BLUE)})
        + words(_middle(i), 182, f"q · k = {math.cos(q - k):.2f}", text_anchor="middle",
                data_part=f"product-{i}")
        for i, (speed, (q, k)) in enumerate(zip(speeds, turned, strict=True))
    ]  # fmt: skip
    score = sum(math.cos(q - k) for q, k in turned)
    x = STEP * len(speeds)
    told = words(x, 100, f"score: {score:.2f}", data_part="score", class_="strong")
    legend = "".join(
        line(x, y - 5, x + 20, y - 5, stroke=colour, stroke_width=5) + words(x + 28, y, name)
        for y, name, colour in ((130, "query", ORANGE), (155, "key", BLUE))
    )
    return Drawn(
        "Query and key, turned by their positions",
        f"A query and a key, equal before they are turned, {apart} positions apart, in "
        f"{len(speeds)} pairs of columns. The score {score:.2f} is the sum of the pairs' products: "
        "it depends on the angle between the hands alone, so it stays when both move on.",
        "".join(dials) + told + legend,
        (x + 120, 200),
        controls=slider("key", "key stands at", 40, 0)
        + play("key")
        + slider("apart", "query stands later by", 20, apart),
        script="turned.js",
        data={"speeds": speeds, "radius": RADIUS, "step": STEP, "middle": MIDDLE},
    )


def _middle(i: int) -> float:
    return STEP * i + STEP / 2


def _numbers(angle: float) -> str:
    return f"sin {math.sin(angle):.2f}, cos {math.cos(angle):.2f}"


def _dial(i: int, title: str, hands: dict[str, tuple[float, str]]) -> str:
    """Draw a dial; at the angle 0 a hand points right, and it turns against the clock."""
    x = _middle(i)
    drawn = [
        line(
            x,
            MIDDLE,
            f"{x + RADIUS * math.cos(angle):.1f}",
            f"{MIDDLE - RADIUS * math.sin(angle):.1f}",
            stroke=colour,
            stroke_width=5 - 2 * n,
            stroke_linecap="round",
            data_part=f"{name}-{i}",
        )
        for n, (name, (angle, colour)) in enumerate(hands.items())
    ]
    return "".join((
        element("circle", cx=x, cy=MIDDLE, r=RADIUS, fill="none", stroke=INK, stroke_opacity=0.5),
        line(x - RADIUS, MIDDLE, x + RADIUS, MIDDLE, stroke_opacity=0.2),
        line(x, MIDDLE - RADIUS, x, MIDDLE + RADIUS, stroke_opacity=0.2),
        *drawn,
        words(x, 164, title, text_anchor="middle", class_="strong"),
    ))  # fmt: skip

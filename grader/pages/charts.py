"""Small charts as inline SVG; each says in words what it shows, and has no script."""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

WIDTH: Final = 240
HEIGHT: Final = 14
BINS: Final = 10

_OPEN: Final = Markup(
    '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
)
_RECT: Final = Markup(
    '<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
)


def stacked_bar(counts: Mapping[str, int]) -> Markup:
    """Draw counts side by side in one bar; each name is its part's class."""
    total = sum(counts.values())
    parts, x = [], 0.0
    for name, count in counts.items():
        width = WIDTH * count / max(total, 1)
        if count:
            parts.append(_rect(name, (x, 0, width, HEIGHT), f"{count} {name}"))
        x += width
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nobody"
    return _svg(told, WIDTH, HEIGHT, parts)


def histogram(shares: Sequence[float]) -> Markup:
    """Draw how many students earned which tenth of the points; shares are from 0 to 1."""
    counts = [0] * BINS
    for share in shares:
        counts[min(int(share * BINS), BINS - 1)] += 1
    tall, step, highest = 60, WIDTH / BINS, max([*counts, 1])
    parts = [
        _rect(
            "plain",
            (place * step + 1, tall * (1 - count / highest), step - 2, tall * count / highest),
            f"{_tenth(place)}: {count}",
        )
        for place, count in enumerate(counts)
    ]
    told = "; ".join(f"{_tenth(i)}: {count}" for i, count in enumerate(counts) if count) or "nobody"
    return _svg(f"students by share of the points: {told}", WIDTH, tall, parts)


def _tenth(place: int) -> str:
    return f"{100 * place // BINS} to {100 * (place + 1) // BINS}%"


def _rect(name: str, box: tuple[float, float, float, float], title: str) -> Markup:
    return _RECT.format(name.replace(" ", "-"), *(f"{value:.1f}" for value in box), title)


def _svg(told: str, width: int, height: int, parts: Sequence[Markup]) -> Markup:
    return (
        _OPEN.format(told, width, height, width, height) + Markup("").join(parts) + Markup("</svg>")
    )

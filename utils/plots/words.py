"""What a figure shows, in words made from what is drawn: right where a student's code is wrong too.

A description written by hand says what should come out. One that is made from the figure says what
did, and gives nothing away before its cell runs.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

MOST_ROWS, MOST_LINES = 12, 8


def in_words(fig: Figure) -> str:
    """Return a figure's panels in words: titles, axes, ends of lines, bars, peaks of heat maps."""
    panels = [_panel(ax) for ax in fig.axes]
    return " ".join(panel for panel in panels if panel)


def _panel(ax: Axes) -> str:
    said = [*_maps(ax), *_lines(ax), *_bars(ax)]
    if not said:
        return ""
    head = ax.get_title() or ax.get_title(loc="right") or "A panel"
    axes = f" ({ax.get_ylabel()} against {ax.get_xlabel()})" if ax.get_xlabel() else ""
    return " ".join(f"{head}{axes}: {'; '.join(said)}.".split())


def _lines(ax: Axes) -> list[str]:
    named = [line for line in ax.lines if _is_curve(line)]
    return [_line(line) for line in named[:MOST_LINES]]


def _is_curve(line: Line2D) -> bool:
    """Return whether a line has values: lines that mark a place have two ends and no name."""
    return np.asarray(line.get_xdata()).size > 0 and not str(line.get_label()).startswith("_")


def _line(line: Line2D) -> str:
    points = np.asarray(line.get_xydata(), dtype=float)
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return f"{line.get_label()} has no values"
    if len(points) == 2 and points[0, 1] == points[1, 1]:  # across the panel, as guessing is
        return f"{line.get_label()} {points[0, 1]:.3g}"
    chosen = points[sorted({0, len(points) // 2, len(points) - 1})]
    return f"{line.get_label()} " + ", ".join(f"{y:.3g} at {x:.3g}" for x, y in chosen)


def _bars(ax: Axes) -> list[str]:
    said = []
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            values = ", ".join(f"{value:.3g}" for value in np.asarray(bars.datavalues))
            said.append(f"{bars.get_label()} {values}".removeprefix("_").strip())
    return said


def _maps(ax: Axes) -> list[str]:
    return [_map(np.asarray(image.get_array())) for image in ax.images]


def _map(values: NDArray[np.float64]) -> str:
    """Say of each row of a matrix where its largest entry lies, and how large that is."""
    rows = [f"{row.max():.2g} in column {row.argmax()}" for row in values[:MOST_ROWS]]
    more = f", and {len(values) - MOST_ROWS} more rows" if len(values) > MOST_ROWS else ""
    return f"{len(values)} rows, largest entries {', '.join(rows)}{more}"

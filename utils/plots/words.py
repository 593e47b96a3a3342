"""What a figure shows, in words made from what is drawn: right where a student's code is wrong too.

A description written by hand says what should come out. One that is made from the figure says what
did, and gives nothing away before its cell runs.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.category import StrCategoryFormatter
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter
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
    return [_line(line, _tick_names(ax.xaxis)) for line in named[:MOST_LINES]]


def _is_curve(line: Line2D) -> bool:
    """Return whether a line has values: lines that mark a place have two ends and no name."""
    return np.asarray(line.get_xdata()).size > 0 and not str(line.get_label()).startswith("_")


def _tick_names(axis: Axis) -> dict[float, str]:
    """Return what stands at the places of an axis, where names were given to them."""
    formatter = axis.get_major_formatter()
    # names given with set_xticks are looked up by a function
    if not isinstance(formatter, FuncFormatter | StrCategoryFormatter):
        return {}
    at = [float(place) for place in axis.get_majorticklocs()]
    return dict(zip(at, formatter.format_ticks(at), strict=True))


def _line(line: Line2D, names: dict[float, str]) -> str:
    points = np.asarray(line.get_xydata(), dtype=float)
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return f"{line.get_label()} has no values"
    if len(points) == 2 and points[0, 1] == points[1, 1]:  # across the panel, as guessing is
        return f"{line.get_label()} {points[0, 1]:.3g}"
    chosen = points[sorted({0, len(points) // 2, len(points) - 1})]
    return f"{line.get_label()} " + ", ".join(
        f"{y:.3g} at {names.get(x, f'{x:.3g}')}" for x, y in chosen
    )


def _bars(ax: Axes) -> list[str]:
    return [_group(bars, ax) for bars in ax.containers if isinstance(bars, BarContainer)]


def _group(bars: BarContainer, ax: Axes) -> str:
    """Return the heights of bars, each with its name where every bar stands over one of its own."""
    label = str(bars.get_label())
    names = _tick_names(ax.yaxis if bars.orientation == "horizontal" else ax.xaxis)
    places = [_place(bar, bars.orientation) for bar in bars.patches]
    nearest = [min(names, key=lambda at: abs(at - place), default=0.0) for place in places]
    values = [f"{value:.3g}" for value in np.asarray(bars.datavalues)]
    if names and len(set(nearest)) == len(places):
        values = [f"{names[at]} {value}" for at, value in zip(nearest, values, strict=True)]
    return ("" if label.startswith("_") else f"{label} ") + ", ".join(values)


def _place(bar: Rectangle, orientation: str | None) -> float:
    """Return where along its axis a bar has its middle."""
    if orientation == "horizontal":
        return float(bar.get_y() + bar.get_height() / 2)
    return float(bar.get_x() + bar.get_width() / 2)


def _maps(ax: Axes) -> list[str]:
    return [_map(np.asarray(image.get_array())) for image in ax.images]


def _map(values: NDArray[np.float64]) -> str:
    """Say of each row of a matrix where its largest entry lies, and how large that is."""
    rows = [f"{row.max():.2g} in column {row.argmax()}" for row in values[:MOST_ROWS]]
    more = f", and {len(values) - MOST_ROWS} more rows" if len(values) > MOST_ROWS else ""
    return f"{len(values)} rows, largest entries {', '.join(rows)}{more}"

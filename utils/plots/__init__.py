"""Plots that look alike in every lesson and can be read without seeing colours.

Importing this module sets the theme; colours are those of `utils.palette`. The ground is opaque, so
that ink is seen in any front end; what `make lab` opens turns it in the dark theme
(`utils/lab/extension/course-pictures`). Lines also differ by dash and marker, and every figure is
shown with a description in words.
"""

import base64
import html
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import cycle
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from utils.palette import BLACK, BLUE, INK, NONE, ORANGE, PAPER, SERIES
from utils.palette import RULE as GRID
from utils.plots.words import in_words

PALETTE, GROUND = SERIES, PAPER
STYLES = (("-", "o"), ("--", "s"), ("-.", "^"), (":", "D"))
SCREEN_DPI = 80  # pixels per inch on the page
FILE_DPI = 140  # pixels per inch in the file, so that text stays sharp when zoomed
MOST_CELLS_WITH_NUMBERS = 64
SIGNED = LinearSegmentedColormap.from_list("signed", (ORANGE, NONE, BLUE))
LUMINANCE = (0.2126, 0.7152, 0.0722)  # of red, green and blue, as WCAG 2.2 weighs them
THEME: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.dpi": SCREEN_DPI,
    "figure.facecolor": GROUND,
    "font.size": 10,
    "grid.color": GRID,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4,
    "savefig.dpi": FILE_DPI,
    "savefig.facecolor": GROUND,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def use_theme() -> None:
    """Set the course's theme; importing this module does it once."""
    mpl.rcParams.update(THEME)


use_theme()


class Picture:
    """A figure as a PNG with alternative text; without a front end, just the text.

    Args:
        fig: the figure.
        alt: what it shows, for readers who cannot see it.

    """

    def __init__(self, fig: Figure, alt: str) -> None:
        buffer = BytesIO()
        fig.set_dpi(FILE_DPI)
        # `savefig` would draw twice: the first time only to lay the figure out.
        FigureCanvasAgg(fig).print_png(buffer, metadata={"Software": None})  # type: ignore[no-untyped-call]
        self.png = buffer.getvalue()
        self.alt = alt
        self.width = round(fig.get_figwidth() * SCREEN_DPI)

    def __repr__(self) -> str:
        """Return what the picture shows, in words."""
        return self.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        data = {"image/png": base64.b64encode(self.png).decode("ascii")}
        return data, {"image/png": {"alt": self.alt, "width": self.width}}


# Pictures have a dark ground in the dark theme of all that is built on JupyterLab. In its own
# windows an extension does the same, before a cell has run (`utils/lab/extension`).
IN_THE_DARK = (
    '[data-jp-theme-light="false"] .jp-RenderedImage img'
    " { filter: invert(0.93) hue-rotate(180deg); }"
)


class InWords:
    """The alternative text, folded, because JupyterLab passes no alt text to screen readers.

    It brings the style that turns the picture in the dark.

    Args:
        alt: what the picture above it shows.

    """

    def __init__(self, alt: str) -> None:
        self.alt = alt

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        words = html.escape(self.alt)
        fold = f"<details><summary>This picture in words</summary>{words}</details>"
        return {"text/html": f"<style>{IN_THE_DARK}</style>{fold}"}

    def __repr__(self) -> str:
        """Return "", because where there is only text, the picture already shows its words."""
        return ""


def show(fig: Figure, alt: str = "", *, about: str = "") -> None:
    """Show a figure once, with its description for readers who cannot see it, and close it.

    Args:
        fig: the figure.
        alt: one or two sentences on what the figure shows and what it means.
        about: in its place, what is drawn; the result is said after it, from the figure.

    Raises:
        ValueError: there is no description.

    """
    alt = f"{about.strip()} {in_words(fig)}" if about.strip() else alt
    if not alt.strip():
        raise ValueError("a picture needs its description: show(fig, alt='...')")
    picture = Picture(fig, alt)
    plt.close(fig)
    display(picture)  # type: ignore[no-untyped-call]
    display(InWords(alt))  # type: ignore[no-untyped-call]


def heat_map(
    ax: Axes,
    matrix: ArrayLike,
    *,
    title: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    limits: tuple[float, float] | None = None,
    bar: bool | str | None = None,
    numbers: bool | None = None,
) -> None:
    """Draw a matrix: white is zero, blue more; with signs, blue is positive, orange negative.

    Args:
        ax: where to draw.
        matrix: (rows, columns), numbers or booleans; a tensor must not need gradients.
        title: what the picture says.
        rows: names of the rows, top to bottom.
        columns: names of the columns.
        limits: values at the ends of the colour scale; by default from the matrix.
        bar: whether to add a colour bar, or its label; by default one if there are no numbers.
        numbers: whether to write each value; by default for up to 64 cells.

    """
    values = np.asarray(matrix, dtype=float)
    low, high = limits or _limits(values)
    colours = SIGNED if low < 0 else "Blues"
    image = ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    ax.set_title(title)
    ax.grid(visible=False)
    _name_ticks(ax, rows, columns)
    with_numbers = values.size <= MOST_CELLS_WITH_NUMBERS if numbers is None else numbers
    if with_numbers:
        _write_numbers(ax, values, image.to_rgba(values)[..., :3])
    if bar or (bar is None and not with_numbers):
        ax.figure.colorbar(image, ax=ax, shrink=0.9, label=bar if isinstance(bar, str) else "")


def your_guess(ax: Axes, guess: object, *, across: bool = True) -> None:
    """Mark what a learner guessed, if it is a number.

    Args:
        ax: where to draw.
        guess: what `guessed(name)` gives; nothing is drawn unless it is a number.
        across: whether the line runs across, at a value, or upwards, at a place.

    """
    if isinstance(guess, int | float):
        draw = ax.axhline if across else ax.axvline
        draw(guess, color=PALETTE[3], ls=":", lw=2, label="your guess")
        ax.legend()


def lines(
    ax: Axes, x: ArrayLike, series: Mapping[str, ArrayLike], *, markers: bool = True, **axes: Any
) -> None:
    """Draw named lines that differ by colour, dash and marker, with a legend.

    Args:
        ax: where to draw.
        x: (N,), shared by all lines.
        series: name in the legend -> (N,) values.
        markers: whether to mark the points.
        axes: passed to `ax.set`: title, xlabel, ylabel (with units), xscale, ylim and so on.

    """
    for (name, y), (dash, marker) in zip(series.items(), cycle(STYLES), strict=False):
        shape = marker if markers else None
        ax.plot(np.asarray(x), np.asarray(y), linestyle=dash, marker=shape, label=name)
    ax.set(**axes)
    if len(series) > 1:
        ax.legend()


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the colour scale: from zero, or symmetric about it if there are signs."""
    if values.min() >= 0:
        return 0.0, float(values.max()) or 1.0
    most = float(abs(values).max())
    return -most, most


def _name_ticks(ax: Axes, rows: Sequence[str] | None, columns: Sequence[str] | None) -> None:
    """Label ticks with names if there are any, else with positions, which are whole numbers."""
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if rows is not None:
        ax.set_yticks(range(len(rows)), rows)
    if columns is not None:
        slanted = sum(map(len, columns)) > 24
        ax.set_xticks(range(len(columns)), columns, rotation=45 if slanted else 0)


def _write_numbers(ax: Axes, values: NDArray[np.float64], grounds: NDArray[np.float64]) -> None:
    """Write each value in its cell, black or white, whichever is read better on its ground."""
    linear = np.where(grounds <= 0.04045, grounds / 12.92, ((grounds + 0.055) / 1.055) ** 2.4)
    dark = linear @ LUMINANCE < 0.179  # where black and white have the same contrast, 4.58:1
    for (row, column), is_dark in np.ndenumerate(dark):
        rounded = round(float(values[row, column]), 2) + 0.0  # + 0.0 turns -0.0 into 0.0
        text = f"{rounded:.2f}".removesuffix(".00")
        colour = GROUND if is_dark else BLACK
        ax.text(column, row, text, ha="center", va="center", size=8, color=colour)

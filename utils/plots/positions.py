"""The pictures of lesson 04. One kind of positions keeps one colour, dash and marker throughout.

Descriptions are made from what is drawn: they tell the result, right or wrong.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from torch import Tensor

from utils import plots

# Kind -> colour, dash, marker.
KINDS = {
    "none": (plots.PALETTE[6], "-", "x"),
    "sinusoidal": (plots.PALETTE[0], "-", "o"),
    "learned": (plots.PALETTE[1], "--", "s"),
    "rotary": (plots.PALETTE[2], "-.", "^"),
    "ALiBi": (plots.PALETTE[3], ":", "P"),
}


def dials(table: Tensor, positions: Sequence[int], pairs: Sequence[int]) -> None:
    """Show each pair of columns as a dial: cosine to the right, sine up, as angles are drawn.

    Args:
        table: (positions, D), sine and cosine of a pair side by side.
        positions: rows of the table, one row of dials for each.
        pairs: pairs of columns, one column of dials for each.

    """
    size = (0.95 * len(pairs) + 1, 0.95 * len(positions) + 0.5)
    fig, axes = plt.subplots(len(positions), len(pairs), figsize=size, squeeze=False)
    said = []
    for row, place in zip(axes, positions, strict=True):
        angles = []
        for ax, pair in zip(row, pairs, strict=True):
            up, right = table[place, 2 * pair : 2 * pair + 2].tolist()
            _dial(ax, right, up)
            angles.append(f"{math.degrees(math.atan2(up, right)) % 360:.0f}")
        row[0].set_ylabel(f"position {place}", rotation=0, ha="right", va="center")
        said.append(f"position {place}: {', '.join(angles)}")
    for ax, pair in zip(axes[0], pairs, strict=True):
        columns = f"columns {2 * pair}, {2 * pair + 1}"
        ax.set_title(f"dial {pair}\n{columns}", fontsize=8, fontweight="normal")
    plots.show(fig, alt="Dials; degrees anticlockwise from the right. " + "; ".join(said) + ".")


def _dial(ax: Axes, right: float, up: float) -> None:
    ax.add_patch(Circle((0, 0), 1, fill=False, color="0.6"))
    ax.plot([0.85, 1], [0, 0], color="0.6")  # where every hand starts
    ax.plot([0, right], [0, up], color=plots.PALETTE[0], lw=2.5, solid_capstyle="round")
    ax.plot(right, up, "o", color=plots.PALETTE[1], ms=5)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", xticks=[], yticks=[])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def speeds(step: Tensor, turn: Tensor) -> None:
    """Show how far each column moves per position, and how long a turn of each pair takes.

    Args:
        step: mean change per position (D,).
        turn: positions in a full turn (D / 2,).

    """
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.9))
    sines = range(0, len(step), 2)  # beside them, the cosines of slow hands hardly move at first
    plots.lines(axes[0], sines, {"": step[::2]}, title="How far a sine moves per position")
    axes[0].set(xlabel="column", ylabel="mean change per position", yscale="log")
    plots.lines(axes[1], sines, {"": turn}, title="Positions until it repeats")
    axes[1].set(xlabel="column", ylabel="length of a turn (positions)", yscale="log")
    ends = f"from {step[0]:.2g} in column 0 to {step[-2]:.2g} in column {len(step) - 2}"
    turns = f"from {turn[0]:.2g} to {turn[-1]:,.0f} positions"
    plots.show(fig, alt=f"Left: the mean step goes {ends}. Right: one turn goes {turns}.")


def alike(offsets: Tensor, curves: Mapping[str, Tensor], title: str) -> None:
    """Show how alike two positions are against their distance: name -> (offsets,) values."""
    fig, ax = plt.subplots(figsize=(7.2, 3))
    plots.lines(ax, offsets, curves, markers=False, title=title)
    ax.set(xlabel="offset k in positions", ylabel="PE[p] · PE[p + k]")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    middle = len(offsets) // 2
    said = [
        f"{name}: {curve[middle]:.1f} at offset 0, {curve[middle + 1]:.1f} at 1, {curve[-1]:.1f} "
        f"at {offsets[-1]}"
        for name, curve in curves.items()
    ]
    plots.show(fig, alt="Lines. " + "; ".join(said) + ".")


def score_tables(tables: Mapping[str, Tensor]) -> None:
    """Show scores of one query and one key at all pairs of positions: title -> (T, T)."""
    fig, grid = plt.subplots(1, len(tables), figsize=(8.4, 3.3), squeeze=False)
    axes = grid[0]
    said = []
    ends = [end for scores in tables.values() for end in (scores.min().item(), scores.max().item())]
    limits = (min(ends), max(ends))  # one scale for all
    for ax, (title, scores) in zip(axes, tables.items(), strict=True):
        plots.heat_map(ax, scores, title=title, limits=limits, bar=ax is axes[-1])
        ax.set(xlabel="position of the key", ylabel="position of the query")
        reach = len(scores) - 2
        spread = max(scores.diagonal(k).std().item() for k in range(-reach, reach + 1))
        said.append(f"{title}: the scores on one diagonal spread by up to {spread:.2f}")
    plots.show(fig, alt="Heat maps of scores by two positions. " + "; ".join(said) + ".")


def learning(kinds: Mapping[str, Sequence[Sequence[float]]], every: int) -> None:
    """Show accuracy against steps: a line for the mean over seeds, a band from lowest to highest.

    Args:
        kinds: kind -> curves of all seeds.
        every: steps between two measurements.

    """
    fig, ax = plt.subplots(figsize=(5.8, 3.3))
    said = []
    for kind, curves in kinds.items():
        runs = np.array(curves)
        steps = every * (np.arange(runs.shape[1]) + 1)
        colour, dash, marker = KINDS[kind]
        ax.plot(steps, runs.mean(0), color=colour, linestyle=dash, marker=marker, label=kind)
        ax.fill_between(steps, runs.min(0), runs.max(0), color=colour, alpha=0.15)
        said.append(f"{kind}: at the end {runs[:, -1].min():.2f} to {runs[:, -1].max():.2f}")
    ax.set(title="Three seeds of each", xlabel="training step", ylim=(0, 1.03))
    ax.set_ylabel("accuracy on new sentences")
    ax.legend(loc="lower right", fontsize=8)
    plots.show(fig, alt="Accuracy against training steps. " + "; ".join(said) + ".")


def ranges(rows: Mapping[str, Sequence[Sequence[float]]], columns: Sequence[str]) -> str:
    """Return a table with the mean, lowest and highest value of each cell.

    Args:
        rows: name -> for each column the values of all seeds.
        columns: names of the columns.

    """
    width, wide = max(map(len, rows)), max(18, *(len(name) + 2 for name in columns))
    lines = [" " * width + "".join(f"{name:>{wide}}" for name in columns)]
    for name, cells in rows.items():
        texts = [f"{np.mean(c):.2f} ({min(c):.2f}–{max(c):.2f})" for c in cells]
        lines.append(f"{name:{width}}" + "".join(f"{text:>{wide}}" for text in texts))
    return "\n".join(lines)

"""The pictures of lesson 04. One kind of positions keeps one colour, dash and marker throughout.

Descriptions are made from what is drawn: they tell the result, right or wrong.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike
from torch import Tensor

from utils import plots

# Kind -> colour, dash, marker. A variant, named after a comma, is dotted and hollow.
KINDS = {
    "none": (plots.PALETTE[6], "-", "x"),
    "sinusoidal": (plots.PALETTE[0], "-", "o"),
    "learned": (plots.PALETTE[1], "--", "s"),
    "rotary": (plots.PALETTE[2], "-.", "^"),
    "minus sign lost": (plots.PALETTE[3], "-", "D"),
    "random rows": (plots.PALETTE[4], "--", "v"),
    "ALiBi": (plots.PALETTE[5], ":", "P"),
}
Runs = Mapping[str, Sequence[Sequence[float]]]


def layouts(tables: Mapping[str, Tensor]) -> None:
    """Show tables of positions side by side: title -> (positions, columns)."""
    fig, grid = plt.subplots(1, len(tables), figsize=(9, 3.5), sharey=True, squeeze=False)
    axes = grid[0]
    for ax, (title, table) in zip(axes, tables.items(), strict=True):
        plots.heat_map(ax, table, title=title)
        ax.set(xlabel="column", ylabel="position")
    alt = [f"{title}: {_in_words(table)}" for title, table in tables.items()]
    plots.show(fig, alt=f"{len(tables)} heat maps, position by column. " + ". ".join(alt) + ".")


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


def square(matrix: Tensor, title: str) -> None:
    """Show one matrix with a colour bar."""
    fig, ax = plt.subplots(figsize=(4.4, 3.5))
    plots.heat_map(ax, matrix, title=title, bar=True)
    ax.set(xlabel="column", ylabel="row")
    used = int((matrix.abs() > 1e-6).sum())
    plots.show(fig, alt=f"{title}: {len(matrix)} rows, {used} entries that are not zero.")


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


def learning(panels: Mapping[str, Runs], every: int) -> None:
    """Show accuracy against steps: a line for the mean over seeds, a band from lowest to highest.

    Args:
        panels: title -> kind -> curves of all seeds.
        every: steps between two measurements.

    """
    fig, axes = plt.subplots(
        1, len(panels), figsize=(3.2 + 2.6 * len(panels), 3.3), sharey=True, squeeze=False
    )
    said = []
    for ax, (title, kinds) in zip(axes[0], panels.items(), strict=True):
        for kind, runs in kinds.items():
            steps = every * (np.arange(len(runs[0])) + 1)
            _with_band(ax, steps, np.array(runs), kind, markers=True)
            ends = sorted(run[-1] for run in runs)
            said.append(f"{kind}: at the end {ends[0]:.2f} to {ends[-1]:.2f}")
        ax.set(title=title, xlabel="training step", ylim=(0, 1.03))
        ax.legend(loc="lower right", fontsize=8)
    axes[0, 0].set_ylabel("accuracy on new sentences")
    plots.show(fig, alt="Accuracy against training steps. " + "; ".join(said) + ".")


def beyond(hits: Mapping[str, Tensor], first: int, trained: int) -> None:
    """Show accuracy by position.

    Args:
        hits: kind -> (seeds, positions).
        first: the first position.
        trained: length of the sentences in training.

    """
    fig, ax = plt.subplots(figsize=(8.4, 3.2))
    said = []
    for kind, table in hits.items():
        places = first + np.arange(table.shape[1])
        _with_band(ax, places, np.asarray(table), kind, markers=False)
        past = table[:, trained - first :].mean()
        said.append(f"{kind}: {table[:, : trained - first].mean():.2f} within, {past:.2f} past it")
    ax.axvline(trained - 0.5, color="0.4", ls=":")
    ax.set(xlabel=f"position (dotted: the trained {trained})", ylabel="accuracy", ylim=(0, 1.03))
    ax.set_title(f"Sentences of {first + table.shape[1]} words, after training on {trained}")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, alt=f"Mean accuracy by trained length {trained}. " + "; ".join(said) + ".")


def attention_maps(maps: Mapping[str, Tensor], trained: int, back: int) -> None:
    """Show mean attention by kind, (T, T); dashed lines mark the length in training."""
    fig, axes = plt.subplots(2, 2, figsize=(8, 6.2))
    said = []
    for ax, (kind, seen) in zip(axes.flat, maps.items(), strict=True):
        plots.heat_map(ax, seen, title=kind, limits=(0, 1))
        ax.axhline(trained - 0.5, color=plots.PALETTE[1], ls="--", lw=1)
        ax.axvline(trained - 0.5, color=plots.PALETTE[1], ls="--", lw=1)
        ax.set(xlabel="looked at (position)", ylabel="looking (position)")
        stripe = seen.diagonal(-back)
        inside, outside = stripe[: trained - back].mean(), stripe[trained - back :].mean()
        said.append(f"{kind}: weight {inside:.2f} {back} places back within, {outside:.2f} past")
    plots.show(fig, alt=f"Mean attention, trained on {trained} words. " + "; ".join(said) + ".")


def neighbours_and_speed(kinds: Mapping[str, Mapping[str, Any]]) -> None:
    """Show, from a record, how soon each table is learned; far neighbours first."""
    far_first = sorted(kinds.items(), key=lambda item: -item[1]["distance of neighbours"])
    fig, ax = plt.subplots(figsize=(8.6, 0.36 * len(kinds) + 1.1))
    labels = []
    for row, (name, found) in enumerate(far_first):
        colour, _, marker = KINDS[kind_of(name)]
        steps = np.array(found["steps until 90%"], dtype=float)
        rows = row + np.linspace(-0.25, 0.25, len(steps))
        ax.plot(steps, rows, marker, color=colour, ms=4, alpha=0.7)
        apart, cosine = found["distance of neighbours"], found["cosine of neighbours"]
        labels.append(f"{name}   {apart:.1f}   {cosine:5.2f}")
        # points from the axes: a share of their width is not known until all is laid out
        offset: dict[str, Any] = {"ha": "center", "va": "center"}
        offset |= {"xycoords": "axes fraction", "textcoords": ("offset points", "data")}
        ax.annotate(f"{apart:.1f}", (1, 0), (35, row), **offset)
        ax.annotate(f"{cosine:.2f}", (1, 0), (90, row), **offset)
    bold: dict[str, Any] = {"ha": "center", "va": "center", "fontweight": "bold"}
    bold |= {"xycoords": "axes fraction", "textcoords": "offset points"}
    for right, up, header in ((35, 8, "distance"), (90, 8, "cosine"), (62, 26, "two neighbours:")):
        ax.annotate(header, (1, 1), (right, up), **bold)
    ax.set_yticks(range(len(kinds)), [name for name, _ in far_first])
    ax.invert_yaxis()
    ax.set(xlabel="training steps", xlim=(0, None))
    ax.set_title("Steps until 90% right, ten seeds each", loc="left")
    medians = [np.nanmedian(np.array(f["steps until 90%"], dtype=float)) for _, f in far_first]
    said = [f"{label}: {median:.0f}" for label, median in zip(labels, medians, strict=True)]
    plots.show(fig, alt="Points. Kind, distance, cosine, median steps: " + "; ".join(said) + ".")


def weight_by_distance(weight: Mapping[str, Mapping[int, float]], trained: int) -> None:
    """Show how much weight words at each distance get.

    Args:
        weight: a name for each line -> distance -> share of the weight.
        trained: length of the sentences in training; they held no distance as large as this.

    """
    fig, ax = plt.subplots(figsize=(8, 2.8))
    distances = list(next(iter(weight.values())))
    curves = {name: list(shares.values()) for name, shares in weight.items()}
    plots.lines(ax, distances, curves, title="Where early positions look", markers=False)
    ax.axvspan(distances[0], trained - 1, color="0.5", alpha=0.15, label="seen in training")
    ax.set(xlabel="distance of the word looked at", ylabel="share of the weight", ylim=(0, None))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    said = []
    for name, shares in weight.items():
        far = {distance: share for distance, share in shares.items() if distance >= trained}
        most = max(far, key=far.__getitem__)
        said.append(f"{name}: of the far ones most, {far[most]:.2f}, at distance {most}")
    plots.show(fig, alt="Share of the weight against distance. " + "; ".join(said) + ".")


def left_out(shares: Mapping[str, Sequence[float]], chance: float) -> None:
    """Show the accuracy at positions whose tags were never shown: kind -> one value per seed."""
    fig, ax = plt.subplots(figsize=(7.2, 0.45 * len(shares) + 1.2))
    said = []
    for row, (name, values) in enumerate(shares.items()):
        colour, _, marker = KINDS[kind_of(name)]
        rows = row + np.linspace(-0.2, 0.2, len(values))
        ax.plot(values, rows, marker, color=colour, ms=6, alpha=0.7)
        said.append(f"{name}: {min(values):.2f} to {max(values):.2f}")
    ax.axvline(chance, color="0.4", ls=":")
    ax.set_yticks(range(len(shares)), list(shares))
    ax.invert_yaxis()
    ax.set(
        xlim=(0, 1.03),
        xlabel="accuracy at the positions left out (dotted: the most frequent group)",
    )
    ax.set_title("Positions that were never asked about in training")
    plots.show(fig, alt="Points, one for each seed. " + "; ".join(said) + ".")


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


def kind_of(name: str) -> str:
    """Return the kind that a variant belongs to: "sinusoidal, base 10" is sinusoidal."""
    return name.split(",", maxsplit=1)[0]


def _with_band(ax: Axes, x: ArrayLike, runs: Any, name: str, *, markers: bool) -> None:
    colour, dash, marker = KINDS[kind_of(name)]
    variant = "," in name
    style: dict[str, Any] = {"color": colour, "label": name, "linestyle": ":" if variant else dash}
    style["markerfacecolor"] = "white" if variant else colour
    ax.plot(x, runs.mean(0), marker=_shape(name, marker) if markers else "", **style)
    ax.fill_between(x, runs.min(0), runs.max(0), color=colour, alpha=0.15)


def _shape(name: str, marker: str) -> str:
    """Return the kind's marker, or a triangle for words of another length."""
    return {"long words": "<", "short words": ">"}.get(name.partition(", ")[2], marker)


def _in_words(table: Tensor) -> str:
    """Say how far the first and the last columns move from one position to the next."""
    step = table.diff(dim=0).abs().mean(0)
    first, last = step[:2].mean(), step[-2:].mean()
    return f"per position its first columns move by {first:.2g}, its last by {last:.2g} on average"

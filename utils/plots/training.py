"""The pictures of lesson 06. Descriptions are made from what is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from utils import plots

Curves = Mapping[str, Sequence[float]]
MOST_NUMBERED = 16  # words of a sentence whose cells still have room for a number


def schedules(steps: Sequence[int], curves: Curves) -> None:
    """Show learning rates against the step.

    Args:
        steps: the steps, from 1.
        curves: name -> the rate of each step.

    """
    fig, ax = plt.subplots(figsize=(6.5, 2.8))
    plots.lines(ax, steps, curves, markers=False, xlabel="step", ylabel="learning rate")
    ax.set_title("One warm-up, two ways down")
    plots.show(fig, about="Learning rate against the step, for two schedules.")


def scoreboard(shares: Mapping[str, tuple[float, float]]) -> None:
    """Show what each contender got right, overall and on ambiguous words.

    Args:
        shares: name -> the share right overall, and of the ambiguous words.

    """
    fig, ax = plt.subplots(figsize=(8, 3.8))
    rows = range(len(shares))
    for offset, part, of in ((0.22, 1, "ambiguous"), (-0.22, 0, "overall")):
        widths = [100 * both[part] for both in shares.values()]
        bars = ax.barh([r + offset for r in rows], widths, 0.4, label=of)
        ax.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    ax.set_yticks(rows, list(shares))
    ax.invert_yaxis()
    ax.set(xlabel="right tags on test (%)", xlim=(0, 108), title="What context is worth")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), reverse=True)
    told = (f"{name} {overall:.0%} and {some:.0%}" for name, (overall, some) in shares.items())
    plots.show(fig, alt="Right tags, overall and on ambiguous words: " + "; ".join(told))


def contest(record: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Show, from a record, what every seed of each contender got right.

    Args:
        record: name -> part of the test words -> the share right for each seed.

    """
    parts = list(next(iter(record.values())))
    fig, axes = plt.subplots(1, len(parts), figsize=(10, 3.8), sharey=True, squeeze=False)
    said = []
    for place, (ax, part) in enumerate(zip(axes[0], parts, strict=True)):
        _seeds(ax, [[100 * share for share in found[part]] for found in record.values()], place)
        ax.set(title=part, xlabel="right tags on test (%)")
    axes[0][0].set_yticks(range(len(record)), list(record))
    axes[0][0].invert_yaxis()
    for name, found in record.items():
        shares = (f"{100 * sum(found[part]) / len(found[part]):.1f}%" for part in parts)
        said.append(f"{name} {', '.join(shares)}")
    plots.show(fig, alt=f"Points, one for each seed; means of {', '.join(parts)}: "
                        + "; ".join(said) + ".")  # fmt: skip


def _seeds(ax: Axes, rows: Sequence[Sequence[float]], colour: int) -> None:
    """Draw each seed of each row, but of a row that lies apart below the others write the mean.

    It lies apart if it is further from the next one than that is from the highest.
    """
    means = [sum(row) / len(row) for row in rows]
    low = sorted(means)[min(1, len(means) - 1)]
    floor = low - (max(means) - low)
    for place, (row, middle) in enumerate(zip(rows, means, strict=True)):
        if middle < floor:
            ax.text(0.02, place, f"← {middle:.1f}", transform=ax.get_yaxis_transform(),
                    va="center", fontsize=8)  # fmt: skip
            continue
        ax.plot(row, [place] * len(row), "o", color=f"C{colour}", ms=5, alpha=0.5)
        ax.annotate(f"{middle:.1f}", (min(row), place), (-6, 0), textcoords="offset points",
                    va="center", ha="right", fontsize=8)  # fmt: skip
    ax.margins(x=0.3)


def confusion(tables: Mapping[str, Tensor], tags: Sequence[str]) -> None:
    """Show which tag was taken for which, in percent of the right ones.

    Args:
        tables: name -> counts (right tag, tag said; one column more: any other).
        tags: the tags' names.

    """
    fig, axes = plt.subplots(1, len(tables), figsize=(10, 4), squeeze=False)
    right = []
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        shares = 100 * table / table.sum(1, keepdim=True).clamp(min=1)
        named: dict[str, Any] = {"rows": tags, "columns": [*tags, "other"]}
        plots.heat_map(ax, shares.round(), title=name, limits=(0, 100), **named)
        ax.set(xlabel="said", ylabel="right tag (rows add up to 100%)")
        _slanted(ax)
        right.append(f"{name} {table.diag().sum() / table.sum():.0%}")
    said = ", ".join(right)
    plots.show(fig, alt=f"Tables of tags, right against said. On the diagonal: {said}.")


def distances(weights: Mapping[str, Sequence[float]], title: str) -> None:
    """Show how much of a head's attention goes how far.

    Args:
        weights: which words look -> the mean weight at each distance, the middle one their own.
        title: which head it is.

    """
    far = len(next(iter(weights.values()))) // 2
    fig, ax = plt.subplots(figsize=(7, 3))
    where = "words away (left of 0: before)"
    steps = range(-far, far + 1)
    plots.lines(ax, list(steps), weights, xlabel=where, ylabel="mean weight")
    ax.set_xticks(list(steps))
    ax.set_title(title)
    before = "; ".join(f"{name} {row[far - 1]:.0%}" for name, row in weights.items())
    plots.show(fig, about=f"Mean weight of a head by distance. On the word before: {before}.")


def one_head(weights: Tensor, words: Sequence[str], place: int, title: str) -> None:
    """Show where a head looks, with one word set in bold.

    Args:
        weights: (T, T).
        words: the sentence's T words.
        place: the bold word's place.
        title: which head it is.

    """
    fig, ax = plt.subplots(figsize=(6.5, 5))
    named: dict[str, Any] = {"rows": words, "columns": words, "bar": "weight"}
    plots.heat_map(ax, weights, title=title, numbers=False, **named)
    ax.set(xlabel="key", ylabel="query")
    _slanted(ax)
    ax.get_yticklabels()[place].set_fontweight("bold")
    row = weights[place]
    most = f"{float(row.max()):.0%} of its attention to {words[int(row.argmax())]}"
    plots.show(fig, alt=f"One head's attention in a sentence: {words[place]} gives {most}.")


def doubts(rows: Mapping[str, Sequence[float]], words: Sequence[str]) -> None:
    """Show how far a model doubts each word's tag, 1 - p(tag), with heads switched off.

    Args:
        rows: what is switched off -> the doubt about each word.
        words: the sentence.

    """
    fig, ax = plt.subplots(figsize=(9, 4.5))
    percent = [[round(100 * doubt) for doubt in row] for row in rows.values()]
    named: dict[str, Any] = {"rows": list(rows), "columns": words, "bar": "doubt (%)"}
    plots.heat_map(ax, percent, limits=(0, 100), numbers=len(words) <= MOST_NUMBERED, **named)
    ax.set_title("Doubt about each tag, with heads switched off: 100 - p(tag) in %")
    _slanted(ax)
    most = "; ".join(f"{name} {max(row):.0%}" for name, row in rows.items())
    plots.show(fig, alt=f"How far the model doubts tags. The most doubtful, row by row: {most}.")


def _slanted(ax: Any) -> None:
    """Slant the words below a picture, so that they do not run into each other."""
    plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")

"""The pictures of lesson 03. Descriptions are made from what is drawn, right or wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from torch import Tensor

from utils import plots

PARTS = (("first", "o"), ("second", "s"), ("both", "^"))


def cut_cells(x: Tensor, ways: Mapping[str, Tensor]) -> None:
    """Show labelled cells and the heads that some ways of cutting make of them.

    Args:
        x: labels (T, D), the tens for the token, the units for the feature.
        ways: name of a way -> heads (H, T, Dh).

    """
    heads = {f"{way}: head {h}": cut for way, all_ in ways.items() for h, cut in enumerate(all_)}
    widths = [x.shape[1], *(head.shape[1] for head in heads.values())]
    fig, grid = plt.subplots(
        1, len(widths), figsize=(10.5, 2.9), width_ratios=widths, squeeze=False
    )
    axes = grid[0]
    limits = (0.0, 2 * float(x.max()))
    plots.heat_map(axes[0], x, title="x", limits=limits)
    for ax, (title, head) in zip(axes[1:], heads.items(), strict=True):
        plots.heat_map(ax, head, title=title, limits=limits)
    for ax in axes:
        ax.set(xlabel="feature", xticks=[], yticks=range(len(x)))
    axes[0].set_ylabel("token")
    axes[1].set_ylabel("row of the head")
    said = "; ".join(f"{title} {head.tolist()}" for title, head in heads.items())
    plots.show(fig, alt=f"Tables of labelled cells, row by row. {said}.")


def cost_of_heads(
    heads: Sequence[int], milliseconds: Sequence[float], mib: Sequence[float]
) -> None:
    """Show time and memory against the number of heads."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.8))
    plots.lines(
        axes[0], heads, {"": milliseconds}, title="Time", ylabel="ms of one core (log scale)"
    )
    plots.lines(axes[1], heads, {"": mib}, title="Memory", ylabel="weights in MiB (log scale)")
    for ax in axes:
        ax.set(xlabel="heads (log scale)", xscale="log", yscale="log")
        ax.set_xticks(heads, map(str, heads))
        ax.minorticks_off()
        ax.yaxis.set_major_formatter("{x:g}")
    for ax, numbers in zip(axes, (milliseconds, mib), strict=True):
        ax.margins(0.12)
        for place, number in zip(heads, numbers, strict=True):
            ax.annotate(f"{number:.0f}", (place, number), (0, 6), textcoords="offset points",
                        ha="center")  # fmt: skip
    said = "; ".join(
        f"{h} heads: {ms:.0f} ms, {m:.1f} MiB"
        for h, ms, m in zip(heads, milliseconds, mib, strict=True)
    )
    plots.show(fig, alt=f"Two plots against the number of heads. {said}.")


def right_answers(results: Mapping[str, Tensor], chance: float) -> None:
    """Show the shares of right answers of every run.

    Args:
        results: model -> (runs, 3), the shares for the first symbol, the second, and both.
        chance: what guessing one symbol gets.

    """
    fig, ax = plt.subplots(figsize=(9, 3))
    for part, (label, marker) in enumerate(PARTS):
        for place, result in enumerate(results.values()):
            runs = range(len(result))
            where = [place + 0.26 * (part - 1) + 0.045 * (run - len(result) / 2) for run in runs]
            name = label if place == 0 else None
            style: dict[str, Any] = {"color": f"C{part}", "ms": 6, "alpha": 0.8, "label": name}
            ax.plot(where, 100 * result[:, part], marker, **style)
    for share, what in ((chance, "one symbol"), (chance**2, "both")):
        ax.axhline(100 * share, color="0.4", ls=":")
        ax.text(1.5, 100 * share + 2, f"chance ({what})", ha="center", color="0.3")
    ax.set_xticks(range(len(results)), list(results))
    ax.set(ylim=(0, 105), ylabel="right answers (%)", title="One point for each run and symbol")
    ax.legend(title="symbol", loc="center left", bbox_to_anchor=(1, 0.5))
    said = [
        f"{name}: both right in {', '.join(f'{share:.0%}' for share in result[:, 2].tolist())}"
        for name, result in results.items()
    ]
    plots.show(fig, alt="Points. " + "; ".join(said) + ".")


def heads_off(models: Mapping[str, Tensor]) -> None:
    """Show what is right with no head off, then with each one: model -> (1 + H, 2) shares."""
    widths = [len(shares) for shares in models.values()]
    fig, grid = plt.subplots(
        1, len(widths), figsize=(9.5, 2.9), width_ratios=widths, sharey=True, squeeze=False
    )
    axes = grid[0]
    said = []
    for ax, (title, shares) in zip(axes, models.items(), strict=True):
        for part, (label, _) in enumerate(PARTS[:2]):
            where = [row + 0.4 * part - 0.2 for row in range(len(shares))]
            style: dict[str, Any] = {
                "label": label,
                "hatch": ("", "//")[part],
                "edgecolor": "white",
            }
            ax.bar(where, (100 * shares[:, part]).tolist(), 0.38, **style)
        ax.set_xticks(range(len(shares)), ["none", *map(str, range(len(shares) - 1))])
        ax.set(xlabel="head switched off", title=title, ylim=(0, 105))
        worst = [f"{share:.0%}" for share in shares.min(1).values.tolist()]
        said.append(f"{title}: the worse symbol is right in {', '.join(worst)}")
    axes[0].set(ylabel="right answers (%)")
    axes[-1].legend(title="symbol", loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, alt="Bars: no head off, then each in turn. " + "; ".join(said) + ".")


def score_and_law(
    accuracy: Mapping[str, Sequence[float]], change: Mapping[str, Sequence[float]]
) -> None:
    """Show right tags, and how much padding changes logits, for the seeds of each model."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 2.7), sharey=True)
    said = []
    for place, (name, shares) in enumerate(accuracy.items()):
        rows = [place + 0.15 * (seed - 1) for seed in range(len(shares))]  # or points would merge
        changes = [max(value, 1e-7) for value in change[name]]
        axes[0].plot([100 * share for share in shares], rows, "o", color="C0", ms=5, alpha=0.6)
        axes[1].plot(changes, rows, "s", color="C1", ms=5, alpha=0.6)
        least = f"{100 * min(shares):.3g}%" + " or more" * (min(shares) < 1)
        said.append(f"{name}: {least} right, changes up to {max(changes):.1g}")
    axes[0].set(xlim=(85, 101), xlabel="right tags (%)", title="What accuracy shows")
    axes[1].set(xscale="log", xlim=(3e-8, 100), xlabel="largest change of a logit (log scale)")
    axes[1].set_title("What padding changes")
    axes[0].set_yticks(range(len(accuracy)), list(accuracy))
    axes[0].set_ylim(len(accuracy) - 0.5, -0.5)
    plots.show(fig, alt="Points, one for each seed. " + "; ".join(said) + ".")


def what_moves(panels: Mapping[str, Tensor], things: Sequence[str]) -> None:
    """Show in which heads the weights of sentence a move when one thing changes.

    Args:
        panels: title -> (things, H), 1 where the weights move.
        things: what is changed, a name for each row.

    """
    width = 2.2 + 1.75 * len(panels)
    fig, grid = plt.subplots(1, len(panels), figsize=(width, 2.6), sharey=True, squeeze=False)
    said = []
    for ax, (title, moved) in zip(grid[0], panels.items(), strict=True):
        heads = [str(h) for h in range(moved.shape[1])]
        plots.heat_map(
            ax,
            moved,
            title=title,
            rows=things,
            columns=heads,
            limits=(0, 1.4),
            numbers=False,
            bar=False,
        )
        ax.set(xlabel="head")
        ax.set_yticks([row - 0.5 for row in range(1, len(things))], minor=True)
        ax.set_xticks([column - 0.5 for column in range(1, len(heads))], minor=True)
        ax.grid(visible=True, which="minor", color="0.7", lw=0.8)
        ax.tick_params(which="minor", length=0)
        found = [
            f"{thing} {', '.join(map(str, row.nonzero().flatten().tolist()))}"
            for thing, row in zip(things, moved, strict=True)
            if row.any()
        ]
        said.append(f"{title}: {'; '.join(found)}")
    grid[0][0].set_ylabel("what is changed")
    fig.supxlabel("blue: the weights of sentence a move", fontsize="medium")
    alt = "Tables, what is changed by heads whose weights move. " + ". ".join(said) + "."
    plots.show(fig, alt=alt)

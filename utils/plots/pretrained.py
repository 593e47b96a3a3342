"""The pictures of lesson 07. Descriptions are made from what is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from utils import plots

Runs = Sequence[Sequence[float]]


def head_shares(shares: Mapping[str, Runs]) -> None:
    """Show for each head which share of its weight goes to a kind of token.

    Args:
        shares: kind of token -> for each layer, a share for each head.

    """
    fig, axes = plt.subplots(1, len(shares), figsize=(9.5, 3), sharey=True)
    for ax, (kind, rows) in zip(axes, shares.items(), strict=True):
        grid = np.array(rows)
        picture = ax.imshow(grid, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        ax.set(title=f"weight on {kind}", xlabel="head")
        ax.set_xticks(range(grid.shape[1]), range(1, grid.shape[1] + 1))
        ax.set_yticks(range(len(grid)), range(1, len(grid) + 1))
        ax.grid(visible=False)
    axes[0].set_ylabel("layer")
    fig.colorbar(picture, ax=axes, label="mean share")
    plots.show(fig, about="Mean share of each head's weight, by layer and head.")


def probed_layers(runs: Mapping[str, Runs]) -> None:
    """Show the share of words tagged right from each state, a point for each draw.

    Args:
        runs: number of sentences -> for each draw, a share for each state.

    """
    fig, ax = plt.subplots(figsize=(6.5, 3.2))
    for place, (n, draws) in enumerate(runs.items()):
        grid = np.array(draws)
        states = range(grid.shape[1])
        style: dict[str, Any] = {"color": f"C{place}", "marker": "os^D"[place % 4]}
        ax.plot(states, grid.mean(0), ls=("-", "--", "-.", ":")[place % 4], label=n, **style)
        for draw in grid:
            ax.plot(states, draw, ls="", alpha=0.4, **style)
    ax.set(title="Word classes in each state", xlabel="state (0: before all layers)")
    ax.set(ylabel="share of words right")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="sentences")
    plots.show(fig, about="Share of words tagged right from each state; means of three draws.")


def sentences_needed(rows: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Show the share of words right against the number of tagged sentences, way by way."""
    fig, ax = plt.subplots(figsize=(7, 3.2))
    for place, (way, found) in enumerate(rows.items()):
        sizes = [int(n) for n in found]
        means = [float(np.mean(shares)) for shares in found.values()]
        ls = ("-", "--", "-.", ":")[place % 4]
        ax.plot(sizes, means, ls=ls, marker="os^D"[place % 4], color=f"C{place}", label=way)
    ax.set(xscale="log", title="What sentences with tags are worth", ylabel="share of words right")
    ax.set_xlabel("tagged sentences")
    sizes = sorted({int(n) for found in rows.values() for n in found})
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, about="Share of words right by number of tagged sentences.")

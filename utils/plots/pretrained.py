"""The pictures of lesson 07. Descriptions are made from what is drawn."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from utils import plots

Runs = Sequence[Sequence[float]]


def head_shares(shares: Mapping[str, Runs]) -> None:
    """Show for each head which share of its weight goes to a kind of token.

    Args:
        shares: kind of token -> for each layer, a share for each head.

    """
    fig, axes = plt.subplots(1, len(shares), figsize=(10.5, 3), sharey=True)
    for ax, (kind, rows) in zip(axes, shares.items(), strict=True):
        heads = [str(n) for n in range(1, len(rows[0]) + 1)]
        layers = [str(n) for n in range(1, len(rows) + 1)]
        plots.heat_map(ax, rows, rows=layers, columns=heads, limits=(0, 1), bar="mean share")
        ax.set(title=f"Weight on {kind}", xlabel="head")
    axes[0].set_ylabel("layer")
    plots.show(fig, about="Mean share of each head's weight, by layer and head.")


def probed_layers(runs: Runs, sentences: str) -> None:
    """Show the share of words tagged right from each state, a point for each draw.

    Args:
        runs: for each draw of sentences to learn from, a share for each state.
        sentences: how many they are.

    """
    fig, ax = plt.subplots(figsize=(6.5, 3.2))
    states = range(len(runs[0]))
    ax.plot(states, np.transpose(runs), ls="", marker="o", alpha=0.4, color="C0")
    plots.lines(ax, states, {"mean": np.mean(runs, axis=0)})
    ax.set(title=f"Word classes in each state, {sentences} sentences")
    ax.set(xlabel="state (0: before all layers)", ylabel="share of words right")
    plots.show(fig, about="Share of words tagged right from each state; the mean of all draws.")


def sentences_needed(rows: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Show the share of words right against the number of tagged sentences, way by way."""
    fig, ax = plt.subplots(figsize=(7, 3.2))
    sizes = sorted({int(n) for found in rows.values() for n in found})
    means = {
        way: [float(np.mean(found.get(str(n), np.nan))) for n in sizes]
        for way, found in rows.items()
    }
    plots.lines(ax, sizes, means, xscale="log", title="What sentences with tags are worth")
    ax.set(xlabel="tagged sentences", ylabel="share of words right")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, about="Share of words right by number of tagged sentences.")

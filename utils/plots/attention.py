"""Pictures of lesson 02: a soft look-up, one from a record, one of broken attentions' weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from torch import Tensor

from utils import plots

# The plain model and attention keep the colours and dashes of the lesson's other pictures.
PLACES = {"plain, state 64": 0, "attention, state 64": 1, "plain, state 256": 2}


def soft_look_up(keys: Sequence[float], values: Sequence[float], sharpness: float = 4.0) -> None:
    """Show what a look-up gives for each query: that of the nearest key, and the soft one.

    Args:
        keys: numbers, ascending.
        values: one for each key.
        sharpness: how fast a match falls with the squared distance of query and key.

    """
    queries = np.linspace(keys[0] - 0.5, keys[-1] + 0.5, 400)
    match = -sharpness * (queries[:, None] - np.asarray(keys)) ** 2
    powers = np.exp(match - match.max(1, keepdims=True))
    soft = powers @ np.asarray(values) / powers.sum(1)
    fig, ax = plt.subplots(figsize=(6.4, 2.6))
    found = {"nearest key alone": np.asarray(values)[match.argmax(1)], "soft: all keys": soft}
    plots.lines(ax, queries, found, title="A look-up among four keys", markers=False)
    ax.plot(keys, values, "o", color="0.2", label="stored pairs")
    ax.set(xlabel="query", ylabel="value that comes back", xticks=list(keys))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, about="The value against the query: in steps, and along a smooth curve.")


def capacity(record: Mapping[str, Any], guess: object = None) -> None:
    """Show the share of right symbols against training steps: a point for each seed.

    Args:
        record: what `python -m bench reversal` recorded.
        guess: a share that was guessed; drawn if it is a number.

    """
    fig, ax = plt.subplots(figsize=(7.4, 3.2))
    for name, found in record["models"].items():
        steps = [int(n) for n in found["symbols"]]
        runs = np.array(list(found["symbols"].values()))  # (steps, seeds)
        place = PLACES[name]
        dash, marker = plots.STYLES[place]
        style: dict[str, Any] = {"color": f"C{place}", "marker": marker, "ms": 5}
        ax.plot(steps, runs.mean(1), dash, label=name, **style)
        for seed in runs.T:
            ax.plot(steps, seed, linestyle="", alpha=0.7, **style)
    ax.axhline(record["guessing"], color="0.5", ls=":", label="guessing symbols")
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="training steps", ylabel="share of right symbols")
    ticks = sorted({int(n) for found in record["models"].values() for n in found["symbols"]})
    ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
    ax.minorticks_off()
    ax.set_title(f"Reversing {record['length']} symbols, {len(record['seeds'])} seeds of each")
    if isinstance(guess, int | float):
        plots.your_guess(ax, guess)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plots.show(fig, about="Share of right symbols by training steps; means of the seeds.")


def symptoms(weights: Mapping[str, Tensor], padding: Tensor) -> None:
    """Show weights of several attentions on the same words, and what their numbers add up to.

    Args:
        weights: name -> (T, S), four of them.
        padding: (S,), True where a key is padding.

    """
    fig, grid = plt.subplots(2, 2, figsize=(9, 5.4))
    said = []
    keys = ["pad" if blank else str(s) for s, blank in enumerate(padding.tolist())]
    for ax, (name, shares) in zip(grid.flat, weights.items(), strict=False):
        sums = [f"{spent:.2f}" for spent in shares.sum(1).tolist()]
        plots.heat_map(ax, shares, title=name, numbers=True, columns=keys, limits=(0, 1), bar=False)
        ax.set(xlabel="key s", ylabel="query t", yticks=range(len(sums)))
        ends = ax.secondary_yaxis("right")
        ends.set_yticks(range(len(sums)), [f"sum {spent}" for spent in sums])
        ends.tick_params(length=0)
        said.append(
            f"{name}: rows sum to {', '.join(sums)}, largest weight {shares.max():.2f}, "
            f"at padding up to {shares[:, padding].max():.2f}"
        )
    plots.show(fig, alt="Heat maps of weights. " + "; ".join(said) + ".")

"""The picture of lesson 02 that is drawn from a record."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from utils import plots

# The plain model and attention keep the colours and dashes of the lesson's other pictures.
PLACES = {"plain, state 64": 0, "attention, state 64": 1, "plain, state 256": 2}


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

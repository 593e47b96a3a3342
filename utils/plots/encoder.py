"""The pictures of lesson 05. Descriptions are made from what is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from utils import plots


def learning_rates(record: Mapping[str, Any], depths: Sequence[int] = (2, 12)) -> None:
    """Show the share of right tags against the learning rate, a point for each seed.

    Args:
        record: what `python -m bench norm_order` recorded.
        depths: numbers of layers, a panel for each.

    """
    fig, grid = plt.subplots(1, len(depths), figsize=(9.5, 3.2), sharey=True, squeeze=False)
    rates = [float(rate) for rate in record["rates"]]
    for ax, depth in zip(grid[0], depths, strict=True):
        for name, runs in record["right"].items():
            layers, order, warm_up = name.split(", ")
            if layers == f"{depth} layers":
                later = warm_up != "warm-up 0"
                _one_kind(ax, rates, np.array(runs), order, later=later)
        ax.axhline(record["guessing"], color="0.5", ls=":", label="guessing")
        ax.set(xscale="log", ylim=(0, 1.05), xlabel="learning rate", title=f"{depth} layers")
        ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
        ax.minorticks_off()
    grid[0][0].set_ylabel(f"share right, after {record['steps']} steps")
    grid[0][-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), title="faint: single seeds")
    plots.show(fig, about="Share of right tags by learning rate; means of the seeds.")


def _one_kind(ax: Any, rates: list[float], runs: Any, order: str, *, later: bool) -> None:
    """Draw one order: full where the rate rises first, else hollow and dashed."""
    place = 0 if order == "post-norm" else 1
    style = {"color": f"C{place}", "marker": "os"[place], "ms": 5, "mfc": None if later else "none"}
    label = f"{order}, warm-up" if later else f"{order}, at once"
    ax.plot(rates, runs.mean(1), "-" if later else "--", label=label, **style)
    for seed in runs.T:
        ax.plot(rates, seed, linestyle="", alpha=0.6, **style)

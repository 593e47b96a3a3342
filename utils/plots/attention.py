"""Pictures of lesson 02: a soft look-up, one from a record, one of broken attentions' weights."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from torch import Tensor

from utils import plots

# The plain model and attention keep the colours and dashes of the lesson's other pictures.


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

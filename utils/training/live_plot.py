"""Curves drawn while models train."""

import time
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.axes import Axes

from utils import plots
from utils.training.trainer import History

WINDOW = 20  # steps over which the loss is averaged
REST = 9  # times as long as a drawing took until the next: short epochs are not held up by it


class LiveCurves:
    """Loss and accuracy of several runs in one picture.

    It is redrawn after an epoch, as far as this takes a tenth of the time; each run's end is drawn.

    Args:
        measured: label of the accuracy axis, such as "accuracy on dev".

    """

    def __init__(self, measured: str) -> None:
        self.measured = measured
        self.histories: dict[str, History] = {}
        self._handle: Any = None
        self._rests_until = 0.0

    def of(self, name: str) -> Callable[[History], None]:
        """Return the function that `fit` should call after each epoch of the run with this name."""

        def note(history: History) -> None:
            self.histories[name] = history
            if history.may_be_done or time.monotonic() >= self._rests_until:
                self.draw()

        return note

    def draw(self) -> None:
        """Show the picture in place of the previous one."""
        start = time.monotonic()
        picture = self.picture()
        if self._handle is None:
            self._handle = display(picture, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(picture)
        now = time.monotonic()
        self._rests_until = now + REST * (now - start)

    def picture(self) -> plots.Picture:
        """Draw the curves so far."""
        fig, axes = plt.subplots(1, 2, figsize=(10, 4))
        for number, (name, history) in enumerate(self.histories.items()):
            dash, marker = plots.STYLES[number % 4]
            style: dict[str, Any] = {"linestyle": dash, "label": name}
            accuracies = [100 * epoch.accuracy for epoch in history.epochs]
            axes[0].plot(smooth(history.losses), **style)
            # Curves that lie on one another stay visible: large and hollow below, small above.
            style |= {"marker": marker, "mfc": "none", "ms": max(3, 12 - 1.5 * number)}
            axes[1].plot(range(1, len(accuracies) + 1), accuracies, **style)
        axes[0].set_yscale("log")  # otherwise all runs end up on the axis
        _name(axes[0], "Loss", "step", f"mean of {WINDOW} steps (nats per word)")
        _name(axes[1], "Accuracy", "epoch", f"{self.measured} (%)")
        fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        made = plots.Picture(fig, self._in_words())
        plt.close(fig)
        return made

    def _in_words(self) -> str:
        parts = (
            f"{name}: {len(history.epochs)} epochs, loss {history.epochs[-1].loss:.2f}, "
            f"{self.measured} {history.epochs[-1].accuracy:.1%}"
            for name, history in self.histories.items()
        )
        return "Curves of loss and accuracy. " + "; ".join(parts) + "."


def smooth(values: list[float]) -> list[float]:
    """Return means over the last `WINDOW` values, over fewer at the beginning."""
    recent = (values[max(0, end - WINDOW) : end] for end in range(1, len(values) + 1))
    return [sum(some) / len(some) for some in recent]


def _name(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)

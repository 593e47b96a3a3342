"""Curves of training runs, as pictures and in words."""

from utils.training.live_plot import WINDOW, LiveCurves, smooth
from utils.training.trainer import Epoch, History


def history(accuracy: float) -> History:
    return History([3.0, 1.0], [0.1, 0.2], [Epoch(2.0, accuracy, 1.0, 10)])


def test_the_loss_is_averaged_over_the_last_steps_only():
    values = [4.0] * 3 + [0.0] * WINDOW
    assert smooth(values)[2] == 4.0
    assert smooth(values)[-1] == 0.0
    assert smooth([2.0, 4.0]) == [2.0, 3.0]


def test_every_run_is_told_in_words():
    curves = LiveCurves("accuracy on dev")
    curves.histories = {"mine": history(0.25), "yours": history(0.5)}
    alt = curves.picture().alt
    assert "mine: 1 epochs, loss 2.00, accuracy on dev 25.0%" in alt
    assert "yours" in alt


def test_a_later_epoch_replaces_the_picture(monkeypatch):
    shown, updated = [], []

    class Handle:
        def update(self, picture):
            updated.append(picture)

    def display(picture, display_id):
        shown.append(picture)
        return Handle()

    monkeypatch.setattr("utils.training.live_plot.display", display)
    note = LiveCurves("accuracy").of("run")
    note(history(0.1))
    note(history(0.2))
    assert (len(shown), len(updated)) == (1, 1)
    assert "20.0%" in updated[0].alt

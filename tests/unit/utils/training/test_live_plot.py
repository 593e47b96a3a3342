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


def test_an_epoch_right_after_a_drawing_is_left_out_but_never_the_last(monkeypatch):
    shown = []
    monkeypatch.setattr(LiveCurves, "picture", lambda curves: dict(curves.histories))
    monkeypatch.setattr("utils.training.live_plot.display", lambda *_, **__: Handle(shown))
    monkeypatch.setattr("utils.training.live_plot.REST", 10**9)
    note, run = LiveCurves("accuracy").of("run"), history(0.1)
    run.planned = 3
    for _ in range(2):
        note(run)
        run.epochs.append(run.epochs[-1])
    assert shown == []
    note(run)
    assert len(shown) == 1


class Handle:
    """A shown picture that notes what replaces it."""

    def __init__(self, replaced):
        self.update = replaced.append

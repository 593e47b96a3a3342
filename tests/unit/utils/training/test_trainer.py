"""The training loop: what it trains, keeps, shows, and how it goes on after a stop."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from bench.lesson_code import solution
from utils.training.config import Settings
from utils.training.trainer import Epoch, History, fit, rate_at

train_step = solution()["train_step"]

SETTINGS = Settings(epochs=5, rate=0.05, warmup=0.2, seed=3)
WORDS, TAGS = 20, 4


class Stopped(BaseException):
    """As when someone presses the stop button."""


def make_model():
    torch.manual_seed(11)
    return nn.Sequential(nn.Embedding(WORDS, 8), nn.Dropout(0.3), nn.Linear(8, TAGS))


def batches(generator):
    """Six batches whose content and order come from the generator."""
    made = []
    for length in torch.randperm(6, generator=generator).tolist():
        ids = torch.randint(1, WORDS, (3, length + 2), generator=generator)
        tags = ids % TAGS
        tags[0, -1], ids[0, -1] = -100, 0
        made.append((ids, torch.tensor([length + 1, length + 2, length + 2]), tags))
    return made


@torch.no_grad()
def accuracy(model):
    model.eval()
    ids = torch.arange(1, WORDS)
    return (model(ids).argmax(-1) == ids % TAGS).float().mean().item()


def run(model=None, step=train_step, settings=SETTINGS, **options):
    model = model or make_model()
    options = {"device": "cpu", "accuracy": accuracy} | options
    measure = options.pop("accuracy")
    return model, fit(model, batches, step, measure, settings, **options)


def same(first, second):
    pairs = zip(first.state_dict().items(), second.state_dict().items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def stopping(after):
    """A train_step that works so many times."""
    left = [after]

    def step(*arguments):
        if not left[0]:
            raise Stopped
        left[0] -= 1
        return train_step(*arguments)

    return step


def measured(history):
    """All but the times, which no two runs share."""
    epochs = [(epoch.loss, epoch.accuracy, epoch.words) for epoch in history.epochs]
    return history.losses, history.rates, epochs


def test_the_progress_bar_ends_with_the_last_epochs_accuracy(capsys):
    shares = iter([0.1, 0.2, 0.3])
    run(settings=replace(SETTINGS, epochs=3), accuracy=lambda _: next(shares))
    said = capsys.readouterr()
    last = (said.out + said.err).rstrip().rpartition("\r")[2]
    assert "dev=30.0%" in last


def test_training_learns_and_notes_every_step():
    model, history = run(settings=replace(SETTINGS, epochs=12))
    assert len(history.losses) == len(history.rates) == 12 * 6
    assert history.best.accuracy == accuracy(model) > 0.9
    assert history.epochs[-1].loss < history.epochs[0].loss / 3
    assert {epoch.words for epoch in history.epochs} == {3 * sum(range(2, 8)) - 6}
    assert history.epochs[0].loss == pytest.approx(sum(history.losses[:6]) / 6)


@pytest.mark.parametrize("steps", [0, 6, 13, 29])
def test_a_run_stopped_and_resumed_equals_one_that_was_never_stopped(tmp_path, steps):
    straight, wanted = run()
    path = tmp_path / "run.pt"
    with pytest.raises(Stopped):
        run(step=stopping(steps), checkpoint=path)
    assert path.exists() == (steps >= 6)
    torch.rand(5)  # whatever was drawn in between
    resumed, history = run(checkpoint=path)
    assert measured(history) == measured(wanted)
    assert same(resumed, straight)
    assert not path.exists()


def test_resuming_twice_and_on_another_model_object_changes_nothing(tmp_path):
    straight, wanted = run()
    path = tmp_path / "run.pt"
    for steps in (8, 7):
        with pytest.raises(Stopped):
            run(step=stopping(steps), checkpoint=path)
    torch.manual_seed(99)
    other = nn.Sequential(nn.Embedding(WORDS, 8), nn.Dropout(0.3), nn.Linear(8, TAGS))
    _, history = run(other, checkpoint=path)
    assert measured(history) == measured(wanted)
    assert same(other, straight)


def test_the_best_model_is_kept_also_over_a_stop(tmp_path):
    worth = iter([0.1, 0.7, 0.3])
    kept = []

    def judge(model):
        kept.append({name: value.clone() for name, value in model.state_dict().items()})
        return next(worth)

    path = tmp_path / "run.pt"
    settings = replace(SETTINGS, epochs=3)
    with pytest.raises(Stopped):
        run(step=stopping(13), settings=settings, accuracy=judge, checkpoint=path)
    model, history = run(settings=settings, accuracy=judge, checkpoint=path)
    assert history.best.accuracy == 0.7
    for name, value in model.state_dict().items():
        assert torch.equal(value, kept[1][name])
    assert not torch.equal(kept[2]["0.weight"], kept[1]["0.weight"])


def test_of_equally_good_models_the_first_is_best():
    epochs = [Epoch(1.0, share, 1.0, 10) for share in (0.5, 0.8, 0.8)]
    assert History(epochs=epochs).best is epochs[1]
    assert History(epochs=epochs).words_per_second == 10.0


def test_what_was_drawn_before_makes_no_difference():
    torch.manual_seed(1)
    first, one = run()
    model = make_model()
    torch.manual_seed(2)
    second, two = run(model)
    assert measured(one) == measured(two)
    assert same(first, second)


def test_a_checkpoint_of_another_run_is_not_used(tmp_path, capsys):
    path = tmp_path / "run.pt"
    with pytest.raises(Stopped):
        run(step=stopping(6), checkpoint=path)
    other = replace(SETTINGS, rate=0.01)
    _, history = run(settings=other, checkpoint=path)
    assert "is of another run; starting anew" in capsys.readouterr().out
    assert measured(history) == measured(run(settings=other)[1])


def test_a_broken_checkpoint_is_not_used(tmp_path):
    path = tmp_path / "run.pt"
    path.write_bytes(b"broken")
    assert measured(run(checkpoint=path)[1]) == measured(run()[1])


def test_a_run_that_goes_on_says_so(tmp_path, capsys):
    path = tmp_path / "run.pt"
    with pytest.raises(Stopped):
        run(step=stopping(14), checkpoint=path, title="mine")
    run(checkpoint=path, title="mine")
    assert f"mine: going on after 2 of 5 epochs; to start anew, remove {path}" in (
        capsys.readouterr().out
    )


def test_the_bar_shows_loss_accuracy_and_speed_and_can_be_hidden(capsys, monkeypatch):
    run(title="rotary")
    shown = capsys.readouterr()
    last = shown.out.strip().split("\r")[-1]
    assert last.startswith("rotary 100%")
    assert all(word in last for word in ("loss=", "dev=", "words/s="))
    assert shown.err == ""
    monkeypatch.setenv("TQDM_DISABLE", "1")
    run()
    assert capsys.readouterr() == ("", "")


def test_the_bar_ends_with_the_speed_over_all_epochs(capsys):
    history = run(title="rotary")[-1]
    speed = f"words/s={history.words_per_second:,.0f}"
    assert capsys.readouterr().out.strip().endswith(speed)


def test_curves_can_be_drawn_after_each_epoch():
    seen = []
    run(after_epoch=lambda history: seen.append(len(history.epochs)))
    assert seen == [1, 2, 3, 4, 5]


def test_the_step_gets_the_settings_clip_and_the_device():
    seen = []

    def step(model, batch, optimizer, scheduler, device, clip):
        seen.append((device, clip, optimizer.param_groups[0]["weight_decay"]))
        return train_step(model, batch, optimizer, scheduler, device, clip)

    run(step=step, settings=replace(SETTINGS, clip=0.25, weight_decay=0.125, epochs=1))
    assert set(seen) == {(torch.device("cpu"), 0.25, 0.125)}


def test_other_rates_take_the_place_of_the_settings_own():
    _, history = run(rates=lambda step, steps: step / steps)
    assert history.rates == pytest.approx([step / 30 for step in range(1, 31)])


@pytest.mark.parametrize(
    ("decay", "middle", "end"),
    [("linear", 0.5, 0.01), ("cosine", 0.5, 0.01), ("root", 0.4264, 0.3162)],
)
def test_rates_rise_to_the_peak_and_fall(decay, middle, end):
    settings = Settings(rate=2.0, warmup=0.1, decay=decay)
    rates = [rate_at(settings, step, 100) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([0.2 * step for step in range(1, 11)])
    assert rates[54] / 2 == pytest.approx(middle, abs=1e-3)  # root: sqrt(10 / 55)
    assert rates[99] / 2 == pytest.approx(end, abs=1e-3)
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rate_at(settings, 104, 100) > 0  # an epoch may have a batch more than the first

"""Lesson 06's contest: on Czech summed up from the search, on English trained with its settings."""

import json
from statistics import mean

import pytest

from bench import tagging_contest
from bench.tagging_contest import PARTS, TRAINED, contest_on_czech
from bench.tagging_search import FILE
from utils.experiments.recorded import recorded
from utils.treebank.loader import made_up_treebank

SEARCH = json.loads(FILE.read_text(encoding="utf-8"))
ENGLISH = recorded("tagging_contest")[0]


def run(why, seed, share, model="rotary", rate=0.1):
    trial = {"model": model, "settings": {"seed": seed, "rate": rate}, "std": 0.03}
    return {"why": why, "trial": trial, "test": dict.fromkeys(PARTS, share)}


def made_up():
    shares = {key: 0.1 * place for place, key in enumerate(TRAINED.values())}
    runs = [run(f"final: {key}, seed 5", 5, share, model=key) for key, share in shares.items()]
    look_ups = dict.fromkeys(("most frequent tag", "with suffix back-off"), run("", 0, 0.3)["test"])
    return {"runs": runs, "look-ups on test": look_ups}


def test_a_seed_that_the_search_ran_before_the_contest_counts_and_other_numbers_do_not():
    search = made_up()
    search["runs"] += [
        run("rotary: rate = 0.1", 0, 0.7, model="rotary encoder"),
        run("rotary: rate = 0.2", 0, 0.9, model="rotary encoder", rate=0.2),
    ]
    assert contest_on_czech(search)["rotary"]["unknown"] == [pytest.approx(0.5), 0.7]


def test_two_contenders_whose_names_begin_alike_are_kept_apart():
    found = contest_on_czech(made_up())
    assert found["LSTM, two layers"]["overall"] == [pytest.approx(0.2)]
    assert found["LSTM, one wider layer"]["overall"] == [pytest.approx(0.3)]
    assert found["with endings"]["overall"] == [0.3]


@pytest.mark.parametrize(
    ("found", "seeds"), [(contest_on_czech(SEARCH), 6), (ENGLISH, 5)], ids=["Czech", "English"]
)
def test_on_both_languages_contenders_have_as_many_seeds_and_context_is_worth_points(found, seeds):
    assert {len(found[name][part]) for name in TRAINED for part in PARTS} == {seeds}
    overall = {name: mean(found[name]["overall"]) for name in found}
    assert overall["with endings"] < overall["one word at a time"] < overall["no positions"]
    assert overall["no positions"] + 0.01 < min(overall["rotary"], overall["LSTM, two layers"])


def test_runs_on_record_are_not_repeated_and_each_is_saved_when_it_is_done(monkeypatch, tmp_path):
    asked = []
    # It would outlast this test: property tests in the same process then have no smallest numbers.
    monkeypatch.setattr("torch.set_flush_denormal", bool)

    def trained(trial, treebank):
        asked.append((trial.model, trial.settings.seed))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return {"test": dict.fromkeys(PARTS, 0.5)}

    monkeypatch.setattr(tagging_contest, "CONTEST", tmp_path / "contest.json")
    monkeypatch.setattr(tagging_contest, "FINAL_SEEDS", (0,))
    monkeypatch.setattr(tagging_contest, "load_treebank", lambda *_: made_up_treebank("a test"))
    monkeypatch.setattr(tagging_contest, "run", trained)
    with pytest.raises(KeyboardInterrupt):
        tagging_contest.main("")
    tagging_contest.main("")
    assert len(asked) == len(TRAINED) + 1
    assert asked[2] == asked[3]
    kept = json.loads((tmp_path / "contest.json").read_text())["results"]
    assert {len(kept[name]["overall"]) for name in TRAINED} == {1}

"""Lesson 06's contest, summed up from all runs of the search."""

import json

import pytest

from bench.tagging_contest import PARTS, TRAINED, contest
from bench.tagging_search import FILE
from utils.experiments.recorded import recorded


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
    assert contest(search)["rotary"]["unknown"] == [pytest.approx(0.5), 0.7]


def test_two_contenders_whose_names_begin_alike_are_kept_apart():
    assert contest(made_up())["LSTM, two layers"]["overall"] == [pytest.approx(0.2)]
    assert contest(made_up())["LSTM, one wider layer"]["overall"] == [pytest.approx(0.3)]
    assert contest(made_up())["with endings"]["overall"] == [0.3]


def test_the_record_that_the_lesson_draws_is_the_sum_of_the_runs_six_seeds_each():
    found = recorded("tagging_contest")[0]
    assert found == contest(json.loads(FILE.read_text(encoding="utf-8")))
    assert {len(found[name][part]) for name in TRAINED for part in PARTS} == {6}

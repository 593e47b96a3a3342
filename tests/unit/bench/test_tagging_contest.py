"""Lesson 06's contest, summed up from all runs of the search."""

from bench.tagging_contest import PARTS, TRAINED, contest


def run(why, seed, share, model="rotary", rate=0.1):
    trial = {"model": model, "settings": {"seed": seed, "rate": rate}, "std": 0.03}
    return {"why": why, "trial": trial, "test": dict.fromkeys(PARTS, share)}


def made_up():
    runs = [run(f"final: {key}, seed 5", 5, 0.5, model=key) for key in TRAINED.values()]
    look_ups = dict.fromkeys(("most frequent tag", "with suffix back-off"), run("", 0, 0.3)["test"])
    return {"runs": runs, "look-ups on test": look_ups}


def test_a_seed_that_the_search_ran_before_the_contest_counts_and_other_numbers_do_not():
    search = made_up()
    search["runs"] += [
        run("rotary: rate = 0.1", 0, 0.7, model="rotary encoder"),
        run("rotary: rate = 0.2", 0, 0.9, model="rotary encoder", rate=0.2),
    ]
    assert contest(search)["rotary"]["unknown"] == [0.5, 0.7]


def test_two_contenders_whose_names_begin_alike_are_kept_apart():
    assert contest(made_up())["LSTM, one wider layer"]["overall"] == [0.5]
    assert contest(made_up())["with endings"]["overall"] == [0.3]

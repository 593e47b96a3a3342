"""Lesson 06's contest on English for its picture: `python -m bench.tagging_contest DIR`.

DIR holds UD_English-EWT. All its sentences are learned from, six seeds for each contender, with the
settings that bench.tagging_search found on Czech: nothing was searched on English. Each run is
saved when it is done, so the command goes on where it stopped; it takes about an hour on one core.
"""

import json
import sys
from typing import Any

import torch

from bench.record import RESULTS, about
from bench.tagging_search import FILE, FINAL_SEEDS, Trial, changed, look_ups, run
from utils.training.config import Settings
from utils.treebank.loader import load_treebank

CONTEST = RESULTS / "tagging_contest.json"
# The lesson's name -> that of the search; the first two only look words up.
LOOK_UPS = {"most frequent tag": "most frequent tag", "with endings": "with suffix back-off"}
TRAINED = {
    "one word at a time": "per-word network",
    "no positions": "no positions",
    "LSTM, two layers": "bidirectional LSTM, as deep as the encoder",
    "LSTM, one wider layer": "bidirectional LSTM",
    "sinusoidal": "sinusoidal encoder, embedding scale lowered",
    "rotary": "rotary encoder",
    "rotary with neighbours": "rotary encoder with neighbours",
}
PARTS = ("overall", "ambiguous", "unknown")

Results = dict[str, dict[str, list[float]]]  # contender -> part of the test words -> its seeds


def contest_on_czech(search: dict[str, Any]) -> Results:
    """Return, from the search's runs, the share that every seed of a contender got right."""
    found = {name: [search["look-ups on test"][key]] for name, key in LOOK_UPS.items()}
    for name, trial in _trials(search).items():
        found[name] = [run["test"] for run in search["runs"] if _but_seed(run) == trial]
    return {name: _by_part(runs) for name, runs in found.items()}


def _trials(search: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each contender's model and numbers, but for the seed."""
    return {
        name: next(_but_seed(r) for r in search["runs"] if r["why"].startswith(f"final: {key}, s"))
        for name, key in TRAINED.items()
    }


def _but_seed(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run's model and numbers: the search ran some of the contest's seeds already."""
    trial: dict[str, Any] = run["trial"]
    return trial | {"settings": trial["settings"] | {"seed": None}}


def _by_part(runs: list[dict[str, float]]) -> dict[str, list[float]]:
    return {part: [shares[part] for shares in runs] for part in PARTS}


def main(folder: str) -> None:
    """Train what is not on record yet, and save each run with date and machine."""
    torch.set_flush_denormal(True)  # as in the lesson
    torch.set_num_threads(1)
    treebank = load_treebank("English-EWT", folder)
    kept = json.loads(CONTEST.read_text(encoding="utf-8")) if CONTEST.exists() else {}
    results: Results = kept.get("results", {})
    tables = look_ups(treebank)
    results |= {name: _by_part([tables[key]]) for name, key in LOOK_UPS.items()}
    told = about() | {"data": str(treebank).split("\n")[0]}
    told["command"] = "python -m bench.tagging_contest DIR"
    trials = _trials(json.loads(FILE.read_text(encoding="utf-8")))
    for seed in FINAL_SEEDS:
        for name, numbers in trials.items():
            found = results.setdefault(name, {part: [] for part in PARTS})
            if len(found[PARTS[0]]) > seed:
                continue
            trial = Trial(**numbers | {"settings": Settings(**numbers["settings"])})
            test = run(changed(trial, "seed", seed), treebank)["test"]
            for part in PARTS:
                found[part].append(test[part])
            CONTEST.write_text(json.dumps(told | {"results": results}, indent=1) + "\n")
            print(f"{name}, seed {seed}", test, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

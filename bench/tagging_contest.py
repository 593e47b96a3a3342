"""Sum up lesson 06's contest on Czech for its picture: `python -m bench.tagging_contest`.

It reads the runs that bench.tagging_search saved, and trains nothing.
"""

import json
from typing import Any

from bench.record import RESULTS
from bench.tagging_search import FILE

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


def contest(search: dict[str, Any]) -> dict[str, dict[str, list[float]]]:
    """Return, for each contender and part of the test words, the share right of every seed."""
    found = {name: [search["look-ups on test"][key]] for name, key in LOOK_UPS.items()}
    for name, key in TRAINED.items():
        trial = next(
            _but_seed(r) for r in search["runs"] if r["why"].startswith(f"final: {key}, s")
        )
        found[name] = [run["test"] for run in search["runs"] if _but_seed(run) == trial]
    return {
        name: {part: [shares[part] for shares in runs] for part in PARTS}
        for name, runs in found.items()
    }


def _but_seed(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run's model and numbers: the search ran some of the contest's seeds already."""
    trial: dict[str, Any] = run["trial"]
    return trial | {"settings": trial["settings"] | {"seed": None}}


def main() -> None:
    """Save the sum beside the runs, with their date and machine."""
    search = json.loads(FILE.read_text(encoding="utf-8"))
    found = {key: search[key] for key in ("date", "processor", "python", "torch", "data")}
    found |= {"command": "python -m bench.tagging_search DIR", "results": contest(search)}
    text = json.dumps(found, indent=1) + "\n"
    (RESULTS / "tagging_contest.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Run all measurements or the named ones, print and save them: `python -m bench [NAME...]`.

Results go to bench/results/NAME.json, with machine, versions and date. What follows the name `gpu`
are its own parts and options: see bench/gpu/run.py. Without names it runs too where there is a GPU.
"""

import sys
from importlib import import_module

from bench.record import keep

NAMES = ("checks", "grading", "norm_order", "positions", "reversal")
LONG = ("pretrained", "pretrained_tagging", "semester", "tagging_speed")  # run when they are named
PLACES = {"semester": "bench.semester.whole"}


def main(names: list[str]) -> None:
    """Run the measurements and save their results."""
    others = names[: names.index("gpu")] if "gpu" in names else names or NAMES
    if unknown := [name for name in others if name not in (*NAMES, *LONG)]:
        known = ", ".join((*NAMES, *LONG, "gpu"))
        sys.exit(f"There is no measurement {', '.join(unknown)}. There are: {known}.")
    for name in others:
        keep(name, import_module(PLACES.get(name, f"bench.{name}")).measure())
    if "gpu" in names or (not names and import_module("torch").cuda.is_available()):
        import_module("bench.gpu.run").main(names[len(others) + 1 :] if names else [])


if __name__ == "__main__":
    main(sys.argv[1:])

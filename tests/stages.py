"""Run everything that must pass, in stages, and say how long each took.

`python tests/stages.py` runs all of them, `python tests/stages.py mypy nbval` the named ones. Both
leave out the parts that passed in the last full run and for which nothing has changed since (see
tests/tiers.py); the last line names them. `--all` leaves out nothing, and writes what passed into
tests/stamp.json; with CI set it fails where that file does not fit the tree.

The tests run beside the other stages, which follow one another; where something runs beside, a
stage's output comes whole when it ends. A stage that fails stops no other.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests import stamp
from tests.tiers import OTHER_SETTINGS, VARIABLE, WHOLE, left_out, nbval_of, told

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "build" / "nbval"
# Warnings of nbval's own code must not fail it: the suite's "error" filter is for our code.
NBVAL = "pytest --nbval build/nbval -p tests.executed --nbval-current-env -W default"
WORKERS = (os.cpu_count() or 1) + 1  # one more than cores: tests wait for servers and browsers
# Modules in the order of their folders: what takes longest comes first, and the short unit tests
# fill up the end. In xdist's own order modules of few and long tests would come last.
SPREAD = "--dist loadscope --no-loadscope-reorder"
LONGEST = "tests"
STAGES = {
    "ruff": "ruff check .",
    "format": "ruff format --check .",
    "mypy": "mypy",
    "build": "grader build --check",
    "nbval": f"{NBVAL} --nbval-cell-timeout=800 -n 2 --dist loadscope -q",
    LONGEST: f"pytest -n {WORKERS} {SPREAD}",
}
# Where bytecode is not kept, every process compiles our modules anew, and each worker rewrites the
# assertions of 250 modules of tests.
COMPILED_ONCE = {"PYTHONDONTWRITEBYTECODE": ""}
# A process that loads torch spends a third of its time on looking for garbage among its parts.
SELDOM_COLLECTED = {
    "PYTHONPATH": os.pathsep.join(
        filter(None, [str(ROOT / "tests" / "startup"), os.environ.get("PYTHONPATH", "")])
    )
}
# What make hands to every make below it: tests that call make have options of their own.
OF_MAKE = ("ARGS", "LESSON", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
COUNT = re.compile(
    r"=*\s*((?:\d+ (?:passed|failed|errors?|skipped|\w+)(?:, )?)+ in [\d.]+s.*?)\s*=*"
)


PRINTING = threading.Lock()


@dataclass(frozen=True)
class Ended:
    """How a stage ended, and pytest's count if it was one of pytest's."""

    name: str
    failed: bool
    count: str
    seconds: float

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "passed"
        return f"{self.name:8}{verdict:8}{self.seconds:7.1f} s"


def run_stage(name: str, *, at_once: bool) -> Ended:
    """Run a stage; its output is printed line by line, at once, or as a whole when it ends."""
    start = time.monotonic()
    if name == "nbval" and not copy_notebooks():
        return Ended(name, failed=False, count="", seconds=0.0)
    held, count = [f"\n--- {name}: {STAGES[name]}\n"], ""
    with started(STAGES[name]) as process:
        assert process.stdout is not None
        for line in process.stdout:
            held.append(line)
            if at_once:
                show(held)
            if match := COUNT.fullmatch(line.strip()):
                count = match[1]
    show(held)
    return Ended(name, process.returncode != 0, count, time.monotonic() - start)


def show(lines: list[str]) -> None:
    """Print lines, nothing of another stage between them, and forget them."""
    with PRINTING:
        print("".join(lines), end="", flush=True)
    lines.clear()


def started(arguments: str) -> subprocess.Popen[str]:
    """Start a module."""
    given = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    defaults = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "COURSE_DATA": "made-up"}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments.split()],
        cwd=ROOT,
        env=defaults | given | COMPILED_ONCE | SELDOM_COLLECTED,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def copy_notebooks() -> int:
    """Copy the executed notebooks, each to a place of its own: some write files beside them."""
    shutil.rmtree(COPIES, ignore_errors=True)
    chosen = [p for p in ROOT.glob("solutions/*/*.ipynb") if nbval_of(p.stem) not in left_out()]
    for notebook in chosen:
        home = COPIES / notebook.stem / notebook.stem  # no other lesson is beside it
        home.mkdir(parents=True)
        shutil.copy(notebook, home)
    return len(chosen)


def run_row(names: Sequence[str], *, at_once: bool) -> list[Ended]:
    """Run stages one after another."""
    return [run_stage(name, at_once=at_once) for name in names]


def run_chosen(chosen: Sequence[str]) -> list[Ended]:
    """Run the tests, and beside them the other stages."""
    longest = [name for name in chosen if name == LONGEST]
    others = [name for name in chosen if name != LONGEST]
    with ThreadPoolExecutor() as rows:
        beside = rows.submit(run_row, others, at_once=not longest)
        last = run_row(longest, at_once=True)
        return [*beside.result(), *last]


def settle(now: dict[str, str], *, passed: bool) -> Ended:
    """End a full run: enter what passed, or, in CI, hold the stamp against the tree."""
    stale = now.keys() - set(stamp.unchanged(now))
    if sys.version_info[:2] != stamp.PYTHON:  # it reads sources otherwise
        print(f"The stamp is left as it is: Python {'.'.join(map(str, stamp.PYTHON))} makes it.")
        return Ended("stamp", failed=False, count="", seconds=0.0)
    if "CI" in os.environ:
        if stale:
            print(f"tests/stamp.json does not fit the tree: {told(sorted(stale))}.")
            print("Run `make test ARGS=--all` and commit tests/stamp.json.")
        return Ended("stamp", failed=bool(stale), count="", seconds=0.0)
    if passed and stale:
        stamp.enter(now)
        print("tests/stamp.json is new: commit it.")
    return Ended("stamp", failed=False, count="", seconds=0.0)


def main(arguments: list[str]) -> int:
    """Run the named stages, or all; give 1 when one of them failed."""
    is_full = "--all" in arguments
    names = [name for name in arguments if name != "--all"]
    if unknown := [name for name in names if name not in STAGES]:
        sys.exit(f"There is no stage {', '.join(unknown)}. There are: {', '.join(STAGES)}, --all.")
    now = stamp.keys()
    left = [] if is_full else [*stamp.unchanged(now), OTHER_SETTINGS, WHOLE]
    os.environ[VARIABLE] = json.dumps(left)
    ended = run_chosen(names or list(STAGES))
    count = next((stage.count for stage in reversed(ended) if stage.count), "no test was run")
    if is_full and not names:
        ended.append(settle(now, passed=not any(stage.failed for stage in ended)))
    print("", *ended, f"===== {count} =====", sep="\n", flush=True)
    if left:
        print(f"Left to `make test ARGS=--all`: {told(left)}.", flush=True)
    return int(any(stage.failed for stage in ended))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

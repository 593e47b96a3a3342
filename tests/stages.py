"""Run everything that must pass, stage by stage, and say how long each took.

`python tests/stages.py` runs all of them, `python tests/stages.py mypy nbval` the named ones. A
stage that fails does not stop the others. The last line is pytest's own count.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "build" / "nbval"
# Warnings of nbval's own code must not fail it: the suite's "error" filter is for our code.
NBVAL = "pytest --nbval build/nbval -p tests.executed --nbval-current-env -W default"
STAGES = {
    "ruff": "ruff check .",
    "format": "ruff format --check .",
    "mypy": "mypy",
    "build": "grader build --check",
    "nbval": f"{NBVAL} --nbval-cell-timeout=300 -n 2 --dist loadscope -q",
    "tests": "pytest -n 2 --dist loadscope",
}
COUNT = re.compile(
    r"=*\s*((?:\d+ (?:passed|failed|errors?|skipped|\w+)(?:, )?)+ in [\d.]+s.*?)\s*=*"
)


def run(arguments: str) -> tuple[int, str]:
    """Run a module, passing its output through; give its exit status and pytest's last count."""
    defaults = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "COURSE_DATA": "made-up"}
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments.split()],
        cwd=ROOT,
        env=defaults | os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    count = ""
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        if match := COUNT.fullmatch(line.strip()):
            count = match[1]
    return process.wait(), count


def copy_notebooks() -> None:
    """Copy the executed notebooks, each to a place of its own: some write files beside them."""
    shutil.rmtree(COPIES, ignore_errors=True)
    for notebook in sorted(ROOT.glob("solutions/*/*.ipynb")):
        home = COPIES / notebook.stem / notebook.stem  # no other lesson is beside it
        home.mkdir(parents=True)
        shutil.copy(notebook, home)


def main(names: list[str]) -> int:
    """Run the named stages, or all; give 1 when one of them failed."""
    if unknown := [name for name in names if name not in STAGES]:
        sys.exit(f"There is no stage {', '.join(unknown)}. There are: {', '.join(STAGES)}.")
    lines, count, failed = [], "", False
    for name in names or STAGES:
        print(f"\n--- {name}: {STAGES[name]}", flush=True)
        start = time.monotonic()
        if name == "nbval":
            copy_notebooks()
        status, counted = run(STAGES[name])
        failed |= status != 0
        count = counted or count
        verdict = "FAILED" if status else "passed"
        lines.append(f"{name:8}{verdict:8}{time.monotonic() - start:7.1f} s")
    print("", *lines, f"===== {count or 'no test was run'} =====", sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m utils.lab.checks [LESSON...]`: run the checks of one's own notebooks, as CI does.

Only what the notebooks show is run; the hidden cases of grading are not here. Trainings and
demonstrations that grading skips are skipped here, too.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from utils.checks.mime import MIME
from utils.lab.exchange import Course
from utils.lab.lessons import read_lesson

SECONDS = 120  # for one cell
SKIPPED = "skip-grading"  # the tag of cells that grading does not run


@dataclass(frozen=True)
class Line:
    """What became of one exercise: its mark, its id and a remark."""

    mark: str
    exercise: str
    remark: str = ""


def run_notebook(notebook: Path) -> Mapping[str, dict[str, Any]]:
    """Run a notebook in a kernel of its own and return its verdicts by exercise.

    Raises:
        ValueError: the file is not a notebook.

    """
    try:
        found = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, AttributeError, KeyError, nbformat.ValidationError):
        raise ValueError(f"{notebook} is not a notebook that can be read") from None
    client = NotebookClient(
        found,
        kernel_name="python3",
        timeout=SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        skip_cells_with_tag=SKIPPED,
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    with suppress(DeadKernelError, CellExecutionError):  # what was checked before counts
        client.execute(env=_environment())
    return {verdict["exercise"]: verdict for verdict in _verdicts(found)}


def _environment() -> dict[str, str]:
    """Return the kernel's environment, in which the course's modules are these ones."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    ours = {"PYTHONPATH": path, "MPLBACKEND": "agg", "JUPYTER_PREFER_ENV_PATH": "1"}
    return os.environ | ours | {"PYTHONSAFEPATH": "1"}  # no file beside a notebook is a module


def _verdicts(notebook: nbformat.NotebookNode) -> Iterator[dict[str, Any]]:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                yield json.loads(output["data"][MIME])


def lines(course: Course, lesson: str) -> list[Line]:
    """Run a lesson's notebook and return what became of its exercises, in order."""
    asked = read_lesson(course.source(lesson) / f"{lesson}.ipynb").exercises
    try:
        verdicts = run_notebook(course.learn / lesson / f"{lesson}.ipynb")
    except ValueError as error:
        return [Line("✗", lesson, str(error))]
    return [_line(each.exercise, verdicts.get(each.exercise)) for each in asked]


def _line(exercise: str, verdict: Mapping[str, Any] | None) -> Line:
    if verdict is None:
        return Line("✗", exercise, "its check was not reached, or it stopped with an error")
    if verdict["stub"]:
        return Line("○", exercise, "not written yet")
    passed = [case["passed"] for case in verdict["cases"]]
    if all(passed):
        return Line("✓", exercise)
    mistake = verdict["mistake"]
    cause = f": {mistake['message']}" if mistake else ""
    return Line("✗", exercise, f"{sum(passed)} of {len(passed)} cases pass{cause}")


def show(lesson: str, found: list[Line]) -> None:
    """Print a lesson's part of the table."""
    n_passed = sum(line.mark == "✓" for line in found)
    print(f"\n{lesson}: {n_passed} of {len(found)} exercises pass", flush=True)
    for line in found:
        print(f"  {line.mark} {line.exercise:<32} {line.remark}".rstrip())


def main(names: list[str]) -> int:
    """Check the named lessons, or all there are; return 1 if something written does not pass."""
    course = Course(Path(__file__).resolve().parents[2])
    mine = [n for n in course.lessons() if (course.learn / n / f"{n}.ipynb").is_file()]
    if unknown := [name for name in names if name not in mine]:
        print(
            f"There is no {', '.join(unknown)} in learn/. There is: {', '.join(mine) or 'nothing'}"
        )
        return 2
    if not mine:
        print("There is nothing to check yet: start the course once (make lab), and keep learn/.")
    failed = False
    for lesson in names or mine:
        found = lines(course, lesson)
        show(lesson, found)
        failed |= any(line.mark == "✗" for line in found)
    return int(failed)


if __name__ == "__main__":  # tests and tools import every module
    sys.exit(main(sys.argv[1:]))

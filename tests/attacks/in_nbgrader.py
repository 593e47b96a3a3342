"""nbgrader's own steps over a notebook, with a fork of this process in place of a new kernel.

A kernel takes seconds to start and to load torch. What is shown of cells differs from a kernel's;
what they do, and the value of each, does not.
"""

import contextlib
import json
import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import determine_grade, is_grade
from traitlets import import_item
from traitlets.config import Config

from grader.course.course import GradingCourse

SECONDS = 120  # a bound for what hangs, and no test of speed
# These write into the gradebook what the others found.
WRITING = ("nbgrader.preprocessors.SaveAutoGrades", "nbgrader.preprocessors.AssignLatePenalties")


class Forked(NbGraderPreprocessor):
    """Runs the code cells in a fork, as a kernel does: a cell ends at its first error."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        tag = self.config.Execute.skip_cells_with_tag
        runs = [cell for cell in code if tag not in cell.metadata.get("tags", ())]
        for cell, outputs in zip(runs, _in_fork([cell.source for cell in runs]), strict=False):
            cell.outputs = [nbformat.from_dict(output) for output in outputs]
        return nb, resources


def _in_fork(sources: list[str]) -> list[list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        if (child := os.fork()) == 0:
            try:
                _run(sources, folder, told)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]


def _run(sources: list[str], folder: str, told: Path) -> None:
    signal.alarm(SECONDS)
    with told.open("w", encoding="utf-8") as file:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        os.chdir(folder)
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        for source in sources:
            found = shell.run_cell(source, store_history=True)
            error = found.error_before_exec or found.error_in_exec
            outputs = list(_outputs(found.result, error))
            file.write(json.dumps(outputs) + "\n")
            file.flush()


def _outputs(value: object, error: BaseException | None) -> Iterator[dict[str, Any]]:
    if error is not None:
        yield new_output("error", ename=type(error).__name__, evalue=str(error), traceback=[])
    elif value is not None:
        yield new_output("execute_result", data={"text/plain": repr(value)})


def scores(course: GradingCourse, lesson: str, data: bytes) -> dict[str, float] | None:
    """What nbgrader's autograde gives each exercise; None where it refuses the notebook."""
    config = course.converter_config(lesson)
    steps = [*config.Autograde.sanitize_preprocessors, *config.Autograde.autograde_preprocessors]
    resources = {
        "nbgrader": {
            "db_url": course.db_url, "notebook": lesson, "assignment": lesson, "student": "",
        }
    }  # fmt: skip
    with contextlib.suppress(Exception), warnings.catch_warnings():  # nbgrader tells an error
        warnings.simplefilter("ignore")  # of nbformat, on ids that are missing or there twice
        nb = nbformat.reads(data.decode(), as_version=4)
        for name in steps:
            if name not in WRITING:
                step = Forked if name.endswith(".RunCells") else import_item(name)
                nb, _ = step(config=config).preprocess(nb, resources)
        graded = [cell for cell in nb.cells if is_grade(cell)]
        return {
            cell.metadata.nbgrader.grade_id.removeprefix("test_"): determine_grade(cell)[0]
            for cell in graded
        }
    return None

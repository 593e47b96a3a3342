"""Run a notebook as a student's machine would, and refuse outputs that change on every run."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from grader.authoring.notebook import METADATA, sign_run
from grader.errors import CourseError

CELL_SECONDS = 600
MADE_UP = "made-up"  # see utils.treebank.loader
START_SECONDS = 180
_NO_KERNEL = (RuntimeError, AssertionError)  # the second is nbclient's, cleaning up after the first
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# What stands in outputs for folders of the machine that builds.
PLACES = {"COURSE_DATA": "$COURSE_DATA", "COURSE_MODEL": "$COURSE_MODEL", "HOME": "~"}
VOLATILE = re.compile(r"\bat 0x[0-9a-f]{6,}|ipykernel_\d+")


def executed(notebook: Any, lesson: str, root: Path) -> Any:
    """Run the notebook in place and return it; raise CourseError with the failing cell.

    It runs in an empty folder: students may keep copies anywhere, so no cell may rely on its place.
    """
    with tempfile.TemporaryDirectory(prefix="build-") as folder:
        try:
            _execute(notebook, folder, root)
        except CellExecutionError as error:
            raise CourseError(_failure(notebook, lesson, error.traceback)) from None
        except (CellTimeoutError, DeadKernelError) as error:
            raise CourseError(_failure(notebook, lesson, str(error))) from None
        except _NO_KERNEL as error:
            raise CourseError(f"{lesson}: no kernel started, twice. {error}".strip()) from None
    notebook.metadata = type(notebook.metadata)(METADATA)
    _name_places(notebook)
    _verify_outputs(notebook, lesson)
    sign_run(notebook)
    return notebook


def _execute(notebook: Any, folder: str, root: Path) -> None:
    """Run the notebook; try once more if no kernel started: another may have taken its port."""
    try:
        _client(notebook, folder).execute(env=_environment(root))
    except _NO_KERNEL:
        if _last_begun(notebook) is not None:
            raise
        _client(notebook, folder).execute(env=_environment(root))


def _client(notebook: Any, folder: str) -> NotebookClient:
    """Return a client that leaves no timings, widgets or split streams in the notebook."""
    return NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        startup_timeout=START_SECONDS,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # its warnings are not the author's
        resources={"metadata": {"path": folder}},
    )


def _environment(root: Path) -> dict[str, str]:
    """Return the kernel's environment: this Python's programs, the course's utils, a hash seed.

    Lesson 06 gets its made-up data unless COURSE_DATA says otherwise, so a build needs no network.
    """
    bin_folder = str(Path(sys.executable).parent)
    paths = [str(root), os.environ.get("PYTHONPATH", "")]
    return (
        {"COURSE_DATA": MADE_UP}
        | os.environ
        | {
            "PATH": os.pathsep.join([bin_folder, os.environ.get("PATH", "")]),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONHASHSEED": "0",
        }
    )


def _failure(notebook: Any, lesson: str, traceback: str) -> str:
    """Describe the cell that started last: the one that failed."""
    cell = _last_begun(notebook)
    if cell is None:
        return f"{lesson}: the kernel did not run any cell.\n{ANSI.sub('', traceback)}"
    return (
        f"{lesson}: cell {cell.id} failed. Its source:\n\n{_indented(cell.source)}\n\n"
        f"{ANSI.sub('', traceback).strip()}\n\n"
        f"No notebook of {lesson} was written. Mend solutions/{lesson}.py and build again."
    )


def _last_begun(notebook: Any) -> Any:
    begun = [c for c in notebook.cells if c.cell_type == "code" and c.execution_count is not None]
    return begun[-1] if begun else None


def _indented(source: str) -> str:
    return "\n".join("    " + line if line else "" for line in source.split("\n"))


def _name_places(notebook: Any) -> None:
    """Let what cells print name no folder of the machine that builds: readers have others."""
    folders = [(os.environ.get(name, ""), shown) for name, shown in PLACES.items()]
    printed = [o for cell in notebook.cells for o in cell.get("outputs", []) if "text" in o]
    for output in printed:
        for folder, shown in folders:
            if Path(folder).is_absolute() and folder != "/":
                named = re.escape(folder.rstrip("/")) + r"(?![\w-])"
                output.text = re.sub(named, shown, output.text)


def _verify_outputs(notebook: Any, lesson: str) -> None:
    """Refuse memory addresses and process ids: they would differ in every build."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found = VOLATILE.search(_plain_text(output))
            if found:
                raise CourseError(
                    f"{lesson}: the output of cell {cell.id} holds `{found[0]}`, which changes at "
                    "every run. Begin its last line with `_ = `, or fix what warns."
                )


def _plain_text(output: Any) -> str:
    """Return what a reader of an output sees as text."""
    data = output.get("data", {})
    texts = [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
    return "\n".join([*texts, *output.get("traceback", [])])

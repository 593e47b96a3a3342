"""Each lesson as a student gets it, run from end to end: boxes say what is missing, no traceback.

A kernel that says "error" stops the cells that wait, so no cell may, though none can show all.
"""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.course.lesson_runs import ROOT, all_lessons

NEEDS = "This experiment needs `"


@pytest.fixture
def ran(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[nbformat.NotebookNode]:
    """The code cells of a fresh copy after a run."""
    monkeypatch.setenv("TQDM_DISABLE", "1")
    folder = tmp_path / request.param
    shutil.copytree(ROOT / "notebooks" / request.param, folder)
    notebook = nbformat.read(folder / f"{request.param}.ipynb", 4)
    about = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_name="python3", timeout=1_200, resources=about).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("ran", list(all_lessons()), indirect=True)
def test_a_fresh_copy_shows_one_box_where_something_is_unwritten_and_no_traceback(
    ran: list[nbformat.NotebookNode],
) -> None:
    unwritten = 0
    for cell in ran:
        assert [o for o in cell.outputs if o.output_type == "error"] == []
        texts = [o.get("data", {}).get("text/plain", "") for o in cell.outputs]
        boxes = [text for text in texts if text.startswith(NEEDS)]
        assert len(boxes) <= 1
        unwritten += len(boxes)
        warned = [text for text in texts if "not right yet" in text]
        assert not (boxes and warned)
    assert unwritten > 0

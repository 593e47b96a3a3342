"""Cells are executed as a notebook executes them, and where imports fail more kindly."""

import pytest

from grader.workers.cell_code import compiler, execute


def run(*cells):
    """Execute cells in one namespace; return it with the error of the last that failed."""
    namespace, compiled, failed = {}, compiler(), None
    for number, cell in enumerate(cells):
        try:
            execute(cell, f"<cell {number}>", namespace, compiled)
        except Exception as error:
            failed = error
    return namespace, failed


def test_a_future_import_counts_for_all_cells_after_it():
    uses = "def f(x: Undefined): return x"
    assert run("from __future__ import annotations", uses)[1] is None
    assert isinstance(run(uses)[1], NameError)


@pytest.mark.parametrize("cell", [
    "import not_here\nx = 1",
    "from not_here import (\n    one,\n    two,\n)\nx = 1",
    "import json; import not_here; x = 1",
    "import not_here\nfrom not_here.too import a\nimport json\nimport not_here\nx = 1",
    "import not_here\nimport asyncio\nawait asyncio.sleep(0)\nx = 1",
    "import not_here as nh, json\nnh.set_theme(\n    1)\nx = 1",
    "from not_here.plots import draw\ndraw(1); draw(2)\nx = 1",
])  # fmt: skip
def test_behind_an_import_that_fails_a_cell_goes_on_and_tells_it(cell):
    namespace, failed = run(cell)
    assert namespace["x"] == 1
    assert isinstance(failed, ModuleNotFoundError)


@pytest.mark.parametrize("cell", [
    "def f():\n    import not_here\nf()\nx = 1",
    "if True:\n    import not_here\nx = 1",
    "raise ImportError\nx = 1",
    "1 / 0\nx = 1",
    "import not_here\nelsewhere.set_theme()\nx = 1",
    "import not_here\nx = not_here.of(1)",
])  # fmt: skip
def test_any_other_error_ends_a_cell(cell):
    namespace, failed = run(cell)
    assert "x" not in namespace
    assert failed is not None

"""Cells are executed as a notebook executes them, and where imports fail more kindly."""

import pytest

from grader.workers.cell_code import Compiler, compiled_ahead, execute, file_of


def run_with(compiled, *cells):
    """Execute cells in one namespace; return it with the error of the last that failed."""
    namespace, failed = {}, None
    for number, cell in enumerate(cells):
        try:
            execute(cell, file_of(number), namespace, compiled)
        except Exception as error:
            failed = error
    return namespace, failed


def ahead(*cells):
    return {file_of(number): code for number, code in enumerate(compiled_ahead(cells)) if code}


@pytest.fixture(params=["compiled where they run", "compiled ahead"])
def run(request):
    if request.param == "compiled ahead":
        return lambda *cells: run_with(Compiler(ahead(*cells)), *cells)
    return lambda *cells: run_with(Compiler(), *cells)


def test_code_that_was_compiled_ahead_is_what_runs():
    assert run_with(Compiler(ahead("x = 2")), "x = 1")[0]["x"] == 2


def test_what_cannot_be_compiled_ahead_is_told_where_it_runs(recwarn):
    cells = ("x = 1", "x = (", "", "x = 2 is 2", "def f(:\n  pass")
    assert [bool(code) for code in compiled_ahead(cells)] == [True, False, False, True, False]
    assert not recwarn.list
    assert isinstance(run_with(Compiler(ahead(*cells[:2])), *cells[:2])[1], SyntaxError)


def test_behind_a_failing_import_a_future_import_of_an_earlier_cell_counts():
    cells = ("from __future__ import annotations", "import not_here\ndef f(x: Undefined): return 1")
    namespace, failed = run_with(Compiler(ahead(*cells)), *cells)
    assert (namespace["f"](0), type(failed)) == (1, ModuleNotFoundError)


def test_a_future_import_counts_for_all_cells_after_it(run):
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
def test_behind_an_import_that_fails_a_cell_goes_on_and_tells_it(run, cell):
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
def test_any_other_error_ends_a_cell(run, cell):
    namespace, failed = run(cell)
    assert "x" not in namespace
    assert failed is not None

"""Cells are executed as a notebook executes them, and go on behind what fails."""

import ast
import gc
import traceback
import weakref

import pytest

from grader.workers.notebook import cell_code
from grader.workers.notebook.cell_code import Compiler, compiled_ahead, execute, file_of, line_in


def run_with(compiled, *cells):
    """Execute cells in one namespace; return it with the errors of all that failed."""
    namespace, failed = {}, []
    for number, cell in enumerate(cells):
        try:
            execute(cell, file_of(number), namespace, compiled, lambda e, _: failed.append(e))
        except BaseException as error:
            failed.append(error)
    return namespace, failed


def ahead(*cells):
    trees = [ast.parse(cell).body for cell in cells]
    return {file_of(number): code for number, code in enumerate(compiled_ahead(trees)) if code}


@pytest.fixture(autouse=True, scope="module")
def _closed_loop():
    yield
    cell_code._loop().close()
    cell_code._loop.cache_clear()


@pytest.fixture(params=["compiled where they run", "compiled ahead"])
def run(request):
    if request.param == "compiled ahead":
        return lambda *cells: run_with(Compiler(ahead(*cells)), *cells)
    return lambda *cells: run_with(Compiler(), *cells)


def test_code_that_was_compiled_ahead_is_what_runs():
    assert run_with(Compiler(ahead("x = 2")), "x = 1")[0]["x"] == 2


def test_what_cannot_be_compiled_ahead_is_told_where_it_runs(recwarn):
    trees = [ast.parse(cell).body for cell in ("x = 1", "return", "", "x = 2 is 2")]
    assert [bool(code) for code in compiled_ahead(trees)] == [True, False, False, True]
    assert not recwarn.list
    assert isinstance(
        run_with(Compiler(ahead("x = 1", "return")), "x = 1", "return")[1][0], SyntaxError
    )


def test_of_a_cell_that_cannot_be_compiled_nothing_runs(run):
    assert "x" not in run("x = 1\nreturn")[0]


def test_behind_a_failing_import_a_future_import_of_an_earlier_cell_counts():
    cells = ("from __future__ import annotations", "import not_here\ndef f(x: Undefined): return 1")
    namespace, (failed,) = run_with(Compiler(ahead(*cells)), *cells)
    assert (namespace["f"](0), type(failed)) == (1, ModuleNotFoundError)


def test_a_future_import_counts_for_all_cells_after_it(run):
    uses = "def f(x: Undefined): return x"
    assert run("from __future__ import annotations", uses)[1] == []
    assert isinstance(run(uses)[1][0], NameError)


@pytest.mark.parametrize("statement", [
    "import not_here",
    "from not_here import (\n    one,\n    two,\n)",
    "import json; import not_here",
    "if True:\n    import not_here",
    "1 / 0",
    "elsewhere.set_theme()",
    "raise_it = {}['a']",
    "def f():\n    raise ImportError\nf()",
    "with open('/not/here') as file:\n    pass",
    "assert 1 > 2, 'slow'",
    "if 1:\n    raise ValueError",
    "next(iter([]))",
    "async def f(): raise ValueError\nawait f()",
    "import asyncio\nasync def f(): raise ValueError\nawait asyncio.gather(f())",
])  # fmt: skip
def test_behind_a_statement_that_fails_a_cell_goes_on_and_tells_it(run, statement):
    namespace, failed = run(f"a = 1\n{statement}\nx = a + 1; y = x")
    assert (namespace["x"], namespace["y"]) == (2, 2)
    assert len(failed) == 1


@pytest.mark.parametrize("statement", [
    "raise ValueError", "raise ImportError", "assert False, 'no further'", "exit()",
    "raise SystemExit", "if True:\n    raise KeyboardInterrupt", "await exit()",
])  # fmt: skip
def test_what_ends_a_cell_on_every_machine_ends_it(run, statement):
    namespace, failed = run(f"x = 1\n{statement}\nx = 2", "y = 3")
    assert (namespace["x"], namespace["y"], len(failed)) == (1, 3, 1)


def test_an_error_behind_one_that_failed_names_its_own_line(run):
    _, failed = run("1 / 0\n\ndef f():\n    return missing\n\n\nf()")
    assert [line_in(error, file_of(0)) for error in failed] == [1, 4]
    assert traceback.extract_tb(failed[1].__traceback__)[-2].lineno == 7


def test_what_failed_keeps_no_memory():
    left = []

    def tell(error, _statement):
        left.append(weakref.ref(error.__traceback__.tb_next.tb_next.tb_frame.f_locals["big"]))

    code = "class Big: pass\ndef f():\n    big = Big()\n    1 / 0\nf()\nx = seen()"
    namespace = {"seen": lambda: gc.collect() and left[0]()}
    execute(code, file_of(0), namespace, Compiler(), tell)
    assert namespace["x"] is None


TASK = """
import asyncio
async def f(): return 3
task = asyncio.create_task(f())
await asyncio.sleep(0)
"""


def test_a_task_is_there_for_the_rest_of_its_cell_and_for_later_cells(run):
    namespace, failed = run(f"{TASK}\nx = await task", TASK, "y = await task")
    assert (namespace["x"], namespace["y"], failed) == (3, 3, [])


def test_a_cell_behind_one_that_awaited_can_get_the_event_loop(run):
    first = "import asyncio\nasync def f(): pass\nasyncio.run(f())"  # which leaves none
    namespace, failed = run(first, TASK, "loop = asyncio.get_event_loop()", "await f()")
    assert (namespace["loop"].is_closed(), failed) == (False, [])


@pytest.mark.parametrize("closing", ["asyncio.get_event_loop().close()", "asyncio.run(f())"])
def test_cells_can_wait_behind_one_that_closed_its_event_loop(run, closing):
    assert run(TASK, closing, "x = await f()")[0]["x"] == 3


def test_a_cell_that_was_stopped_while_it_waited_does_not_go_on_in_a_later_one(run):
    stopped = f"{TASK}asyncio.get_running_loop().call_soon(exit)\nawait asyncio.sleep(0.01)\nx = 1"
    namespace, failed = run(stopped, "await asyncio.sleep(0.05)\ny = 2")
    assert (namespace.get("x"), namespace["y"], len(failed)) == (None, 2, 1)


def test_a_cell_that_asserts_and_defines_twice_ends_with_its_last_definition(run):
    assert run("def f(): return 1\nassert f() == 2\ndef f(): return 2")[0]["f"]() == 2


DEEP = "x = ' 1'" + ".strip()" * 900


def tree_may_be_deep():
    """From Python 3.13 on the compiler takes from a tree what it takes from a text."""
    try:
        compile(ast.parse(DEEP), "tree", "exec")
    except RecursionError:
        return False
    return True


def test_a_cell_that_is_nested_too_deeply_for_a_tree_runs_as_a_text(run):
    namespace, failed = run(f"{DEEP}\ny = 2")
    assert (namespace["x"], namespace["y"], failed) == ("1", 2, [])


@pytest.mark.skipif(tree_may_be_deep(), reason="this Python's trees go as deep as its texts")
def test_such_a_cell_ends_where_it_fails(run):
    namespace, failed = run(f"z = 1\n1 / 0\n{DEEP}")
    assert namespace["z"] == 1
    assert [type(error) for error in failed] == [ZeroDivisionError]
    assert "x" not in namespace

"""An answer that asks, or ends the kernel, while it is checked: one sentence. A real kernel."""

import pytest

from tests.unit.utils.kernel.kernel import Kernel

CHECK = "check.stable_softmax(stable_softmax)"
ANSWER = "def stable_softmax(x, dim=-1):\n    {}\n    return x"


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("import pdb; pdb.set_trace()", "`set_trace()`"),
        ("import pdb; pdb.Pdb().set_trace()", "`set_trace()`"),
        ("from IPython.core.debugger import set_trace; set_trace()", "`set_trace()`"),
        ("breakpoint()", "`breakpoint()`"),
        ("input('which?')", "`input()`"),
        ("import getpass; getpass.getpass()", "`getpass()`"),
    ],
)
def test_an_answer_that_asks_is_told_so_once_and_asks_nothing(
    kernel: Kernel, line: str, called: str
) -> None:
    kernel.run(ANSWER.format(line))
    shown = kernel.run(CHECK)
    assert shown.asked == [] and shown.errors == []
    assert shown.text.count(f"Your code calls {called}, which waits for an answer") == 1
    assert f"in your line: {line}" in shown.text
    assert "\x1b" not in shown.text


@pytest.mark.parametrize("line", ["exit()", "quit()"])
def test_an_answer_that_ends_the_kernel_does_not(kernel: Kernel, line: str) -> None:
    kernel.run(ANSWER.format(line))
    shown = kernel.run(CHECK)
    assert "which ends the notebook's kernel" in shown.text
    assert kernel.run("1 + 1").text == "2"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("import sys; sys.exit(3)", "SystemExit"),
        ("raise SystemExit", "SystemExit"),
        ("return stable_softmax(x, dim)", "RecursionError"),
        ("raise MemoryError", "MemoryError"),
        ("raise BaseException('x')", "BaseException"),
        ("raise GeneratorExit", "GeneratorExit"),
    ],
)
def test_any_error_in_an_answer_is_a_verdict(kernel: Kernel, line: str, word: str) -> None:
    kernel.run(ANSWER.format(line))
    shown = kernel.run(CHECK)
    assert shown.errors == [] and shown.status == "ok"
    assert shown.text.startswith("✗ stable_softmax")
    assert word in shown.text and f"in your line: {line}" in shown.text


def test_after_the_check_the_notebook_asks_as_before(kernel: Kernel) -> None:
    kernel.run(ANSWER.format("input()"))
    kernel.run(CHECK)
    said = kernel.run("import bdb, sys, getpass\nprint(input, sys.breakpointhook, getpass.getpass)")
    assert "refuse" not in said.text

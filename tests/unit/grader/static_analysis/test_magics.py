"""What a magic costs (nothing), and what of it is run (its code)."""

import pytest

from grader.static_analysis.cells import as_python
from grader.static_analysis.shortcuts import shortcuts_in

USUAL = [
    "%matplotlib inline", "!ls", "?print", "print?", "print??", "%load_ext autoreload",
    "%pip install x", "%%html\n<b>1</b>", "%%bash\nls", "files = !ls", "here = %pwd",
]  # fmt: skip
AROUND = ["%%time", "%%timeit -n 2", "%%capture out", "%%time\n%%capture", "\n%%time"]


@pytest.mark.parametrize("source", USUAL)
def test_a_magic_that_runs_no_code_does_nothing_and_names_nothing(source):
    exec(as_python(source), {})
    right = "def split_heads(x, n):\n    return x.unflatten(-1, (n, -1)).transpose(1, 2)"
    assert shortcuts_in([source, right], {"split_heads": ("torch.nn.MultiheadAttention",)}) == {}


@pytest.mark.parametrize("head", AROUND)
def test_the_code_of_a_cell_with_a_magic_at_its_head_is_run_on_its_own_lines(head):
    names = {}
    exec(as_python(f"{head}\nx = 1\ndef f(): return x"), names)
    assert names["f"]() == 1
    assert names["f"].__code__.co_firstlineno == 3 + head.count("\n")


@pytest.mark.parametrize("source", ["%time x = 1", "%timeit -n 3 f()\nx = 1", "%prun f()\nx=1"])
def test_the_code_of_a_line_magic_is_run(source):
    names = {"f": lambda: None}
    exec(as_python(source), names)
    assert names["x"] == 1


def test_a_shortcut_behind_a_magic_is_named_all_the_same():
    cell = "%%time\nimport torch\ndef split_heads(x, n):\n    return torch.nn.MultiheadAttention(x)"
    assert shortcuts_in([cell], {"split_heads": ("torch.nn.MultiheadAttention",)})

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
    exec(as_python(source), {"get_ipython": lambda: None})
    right = "def split_heads(x, n):\n    return x.unflatten(-1, (n, -1)).transpose(1, 2)"
    assert shortcuts_in([source, right], {"split_heads": ("torch.nn.MultiheadAttention",)}) == {}


@pytest.mark.parametrize("head", AROUND)
def test_the_code_of_a_cell_with_a_magic_at_its_head_is_run_on_its_own_lines(head):
    names = {"get_ipython": lambda: None}
    exec(as_python(f"{head}\nx = 1\ndef f(): return x"), names)
    assert names["f"]() == 1
    assert names["f"].__code__.co_firstlineno == 3 + head.count("\n")


@pytest.mark.parametrize("source", ["%time x = 1", "%timeit -n 3 f()\nx = 1", "%prun f()\nx=1"])
def test_the_code_of_a_line_magic_is_run(source):
    names = {"f": lambda: None}
    exec(as_python(source), names)
    assert names["x"] == 1


@pytest.mark.parametrize(
    "source", ["r = %timeit -o 1", "r = !ls", "r = %pwd", "%%capture r\nx = 1", "\n%%capture r -x"]
)
def test_a_name_for_what_a_magic_gives_stands_for_what_the_shell_gives(source):
    names = {"get_ipython": lambda: "the shell's stand-in"}
    exec(as_python(source), names)
    assert names["r"] == "the shell's stand-in"


def test_a_name_for_a_timed_lines_value_has_that_value():
    names = {}
    exec(as_python("r = %time 3 + 4"), names)
    assert names["r"] == 7


def test_a_shortcut_behind_a_magic_is_named_all_the_same():
    cell = "%%time\nimport torch\ndef split_heads(x, n):\n    return torch.nn.MultiheadAttention(x)"
    assert shortcuts_in([cell], {"split_heads": ("torch.nn.MultiheadAttention",)})

"""What a cell asks of Jupyter while it is graded costs it nothing."""

import types

import IPython
import pytest

from grader.workers.notebook.no_shell import NOTHING, give_names

USES = {
    "a magic by its call": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "what a measurement found": "print(f'{get_ipython().run_line_magic(0).average:.3f}')",
    "lines of the shell": "for line in get_ipython().getoutput('ls'):\n    raise ValueError(line)",
    "a first line of the shell": "get_ipython().getoutput('ls')[0].split()",
    "a setting": "get_ipython().ast_node_interactivity = 'all'",
    "an event": "get_ipython().events.register('post_run_cell', print)",
    "a path": "str(get_ipython()) + 'x'",
    "numbers": "float(get_ipython()) + int(get_ipython()) + len(get_ipython())",
    "whether there is a shell": "if get_ipython(): raise ValueError",
    "the shell by its import": "from IPython import get_ipython\nget_ipython().magic('time')",
    "what was shown": "print(_, __, ___, In[-1], Out)\ndel _",
    "showing": "display(1)",
}


@pytest.mark.parametrize("source", USES.values(), ids=USES)
def test_a_cell_that_asks_something_of_jupyter_runs_to_its_end(source, monkeypatch):
    monkeypatch.setattr(IPython, "get_ipython", None)
    cells = types.ModuleType("__main__")
    give_names(cells)
    exec(source, vars(cells))


def test_a_setting_of_the_shell_is_not_kept():
    NOTHING.setting = 3
    assert NOTHING.setting is NOTHING

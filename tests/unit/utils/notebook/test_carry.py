"""Carrying forward: one's own block where it is right, a stand-in where not, never a crash."""

import json
import os
from pathlib import Path

import pytest
import torch

from utils.kernel import runs
from utils.notebook import carry
from utils.notebook.source import NotFoundInNotebook, source_of
from utils.reference import modules

LESSON, NAME = "02_attention", "scaled_dot_product_attention"
IMPORTS = "import math\nimport torch\nfrom torch import Tensor"
OWN = """
SHOWN = 0
def helper(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = helper(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
"""
STUB = f"def {NAME}(q, k, v, mask=None):\n    raise NotImplementedError"
SHORT = "carry.SECONDS = (4.0, 4.0, 4.0); carry.PATIENCE = 50; "
HANG = "def wait():\n    while True: pass\nx = wait()\n"


def cell(source: str, exercise: str | None = None) -> dict:
    about = {"nbgrader": {"grade_id": exercise}} if exercise else {}
    return {"cell_type": "code", "source": source, "metadata": about, "outputs": []}


def write(folder: Path, lesson: str, *cells: dict | str) -> Path:
    notebook = folder / lesson / f"{lesson}.ipynb"
    notebook.parent.mkdir()
    content = [cell(c) if isinstance(c, str) else c for c in cells]
    notebook.write_text(json.dumps({"cells": content, "metadata": {}, "nbformat": 4}))
    return notebook


@pytest.fixture
def learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder, inside a later lesson."""
    (tmp_path / "05_encoder").mkdir()
    monkeypatch.chdir(tmp_path / "05_encoder")
    for variable in (*runs.GRADING, carry.DEPTH):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args, **_options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(carry.subprocess, "Popen", refuse)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert err == ""
    out = out.rpartition("\r")[2]  # what replaced the line that was shown meanwhile
    assert out.count("\n") == 1
    return out


def test_a_block_that_passes_is_carried_and_its_notebook_named(learn, capsys):
    demonstration = "print('a demonstration')\nopen('trace', 'w').write('x')"
    write(learn, LESSON, IMPORTS, demonstration, "%matplotlib inline", cell(OWN, NAME))
    own = carry.carry(LESSON, NAME)
    assert said(capsys) == f"{NAME}: your own, from ../{LESSON}/{LESSON}.ipynb\n"
    assert own.__module__.startswith("carried")
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    torch.testing.assert_close(own(q, k, v)[0], modules.scaled_dot_product_attention(q, k, v)[0])
    assert not list(learn.rglob("trace"))


def test_while_a_notebook_is_tried_a_line_says_so_and_is_replaced(learn, capsys, monkeypatch):
    write(learn, LESSON, IMPORTS, cell(OWN, NAME))
    monkeypatch.setattr(carry, "_run_child", lambda *_: True)
    carry.carry(LESSON, NAME)
    first, blank, last = capsys.readouterr().out.split("\r")
    assert first == f"{NAME}: trying yours, which can take some seconds ..."
    assert blank == " " * len(first)
    assert last.startswith(f"{NAME}: the course's stand-in")


def test_a_notebook_is_tried_once_until_it_changes(learn, capsys, monkeypatch):
    notebook = write(learn, LESSON, IMPORTS, cell(OWN, NAME))
    tried = []
    monkeypatch.setattr(carry, "_run_child", lambda path, name, out: tried.append(path) or True)
    for _ in range(2):
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert tried == [notebook]
    notebook.write_text(notebook.read_text() + "\n")
    carry.carry(LESSON, NAME)
    assert len(tried) == 2
    capsys.readouterr()


def test_a_wrong_block_gives_way_to_the_stand_in(learn, capsys):
    write(learn, LESSON, IMPORTS, cell(OWN.replace("/ math.sqrt(q.shape[-1])", ""), NAME))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "passes 2 of" in said(capsys)  # with one key allowed no scale matters


KEEPS_ITS_POSITIONS = """
from utils.reference.modules import TransformerEncoder as Right

class TransformerEncoder(Right):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.kept = [self.positions]

    def embed(self, ids):
        return self.kept[0](self.embedding(ids))
"""


def test_an_encoder_that_keeps_old_parts_is_carried_only_where_none_is_exchanged(
    learn, capsys, monkeypatch
):
    (learn / "05_encoder").rmdir()
    write(learn, "05_encoder", IMPORTS, cell(KEEPS_ITS_POSITIONS, "TransformerEncoder"))
    monkeypatch.setattr(carry, "_why_not", lambda *_: "")  # it passes its own check
    monkeypatch.chdir(learn / "05_encoder")
    assert carry.carry("05_encoder", "TransformerEncoder").__module__.startswith("carried")
    assert "your own" in said(capsys)
    exchanged = carry.carry("05_encoder", "TransformerEncoder", exchanged=True)
    assert exchanged is modules.TransformerEncoder
    assert "old parts after new ones took their places: positions)" in said(capsys)


def test_a_stub_gives_way_to_the_stand_in(learn, capsys):
    write(learn, LESSON, IMPORTS, cell(STUB, NAME))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "is not written yet" in said(capsys)


@pytest.mark.parametrize(
    ("trap", "reason"),
    [
        ("import os\nx = os._exit(0)", "ended its process"),
        ("x = 1 / 0", "stops with ZeroDivisionError"),
        ("raise_ = exit()", "stops with"),
    ],
)
def test_a_notebook_that_breaks_gives_way_to_the_stand_in(learn, capsys, trap, reason):
    source = trap + "\ny = x if 'x' in globals() else raise_\n" + OWN.replace("SHOWN = 0", "")
    source = source.replace("scores = helper(q, k)", "scores = helper(q, k); y")
    write(learn, LESSON, IMPORTS, cell(source, NAME))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert reason in said(capsys)


def test_a_notebook_that_hangs_is_ended_and_leaves_no_process(learn, capsys, monkeypatch):
    monkeypatch.setattr(carry, "SECONDS", (2.0, 1.0, 0.5))
    pid = learn / "pid"
    trap = f"import os, time\nwith_pid = open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
    source = trap + "x = [time.sleep(1000), with_pid]" + OWN
    source = source.replace("helper(q, k)\n", "helper(q, k); x\n")
    write(learn, LESSON, IMPORTS, cell(source, NAME))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "takes too long" in said(capsys)
    if pid.exists():  # a very slow machine may not have come so far
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)


def test_a_notebook_that_computes_without_end_is_stopped_and_told_so(learn, capsys, monkeypatch):
    monkeypatch.setattr(carry, "TRY", "from utils.notebook import carry; " + SHORT + carry.TRY)
    write(learn, LESSON, IMPORTS, cell(HANG + OWN.replace("helper(q, k)\n", "helper(q, k); x\n")))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "takes too long to try; run this cell again" in said(capsys)


def test_a_block_that_hangs_only_when_imported_gives_way_too(learn, capsys, monkeypatch):
    monkeypatch.setattr(carry, "_tried", lambda *_: "")
    monkeypatch.setattr(carry, "SECONDS", (0.2, 0.2, 0.2))
    write(learn, LESSON, IMPORTS, cell(HANG + OWN.replace("helper(q, k)\n", "helper(q, k); x\n")))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "could not be imported: TimeoutError" in said(capsys)


def test_an_import_that_ends_the_program_gives_way_too(learn, capsys, monkeypatch):
    monkeypatch.setattr(carry, "_tried", lambda *_: "")
    leave = "class Leave(BaseException): pass\ndef wait():\n    raise Leave\nx = wait()\n"
    write(learn, LESSON, IMPORTS, cell(leave + OWN.replace("helper(q, k)\n", "helper(q, k); x\n")))
    assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
    assert "could not be imported: RuntimeError" in said(capsys)


def test_a_right_block_on_an_unfinished_exercise_gives_way_to_the_stand_in(learn, capsys):
    # The block's own check puts a right split_heads in place of this one.
    block = (
        "class MultiHeadAttention(modules.MultiHeadAttention):\n"
        "    def forward(self, query, key, value, mask=None):\n"
        "        split_heads(query, self.n_heads)\n"
        "        return super().forward(query, key, value, mask)\n"
    )
    stub = "def split_heads(x, n_heads):\n    raise NotImplementedError"
    name, lesson = "MultiHeadAttention", "03_multi_head_attention"
    write(
        learn,
        lesson,
        "from utils.reference import modules",
        cell(stub, "split_heads"),
        cell(block, name),
    )
    assert carry.carry(lesson, name) is modules.MultiHeadAttention
    assert "is right, but uses split_heads: not right yet" in said(capsys)


def test_a_block_may_rest_on_a_carried_one(learn, capsys):
    write(learn, "01_rnn_limits", IMPORTS, cell(OWN, NAME))
    nested = (
        "from utils.notebook.carry import carry\n"
        f"first = carry('01_rnn_limits', '{NAME}')\n"
        f"def {NAME}(q, k, v, mask=None):\n    return first(q, k, v, mask)\n"
    )
    write(learn, LESSON, nested)
    own = carry.carry(LESSON, NAME)
    assert "your own" in said(capsys)
    assert own.__globals__["first"].__module__ == f"carried_01_rnn_limits_{NAME}"


@pytest.mark.usefixtures("no_process")
class TestWithoutAProcess:
    @pytest.mark.parametrize("variable", runs.GRADING)
    def test_grading_always_uses_the_stand_in(self, learn, capsys, monkeypatch, variable):
        monkeypatch.setenv(variable, "1")
        write(learn, LESSON, IMPORTS, cell(OWN, NAME))
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        assert said(capsys) == f"{NAME}: the course's stand-in (as always while grading)\n"

    def test_without_a_notebook_the_stand_in_is_used(self, learn, capsys):
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        path = f"../{LESSON}/{LESSON}.ipynb"
        wanted = f"{NAME}: the course's stand-in (no notebook of yours is at {path})\n"
        assert said(capsys) == wanted

    def test_in_the_solutions_folder_the_line_is_the_same_as_without(self, capsys, monkeypatch):
        monkeypatch.delenv(carry.DEPTH, raising=False)
        monkeypatch.chdir(carry.COURSE / "solutions" / "00_start_here")
        assert carry.carry("00_start_here", NAME) is modules.scaled_dot_product_attention
        assert "no notebook of yours is at ../00_start_here/00_start_here.ipynb" in said(capsys)

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', '{"cells": [3]}', "\0"])
    def test_a_damaged_notebook_gives_way_to_the_stand_in(self, learn, capsys, content):
        write(learn, LESSON, IMPORTS).write_text(content)
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        assert "it cannot be read as a notebook" in said(capsys)

    def test_a_notebook_without_the_block_gives_way_to_the_stand_in(self, learn, capsys):
        write(learn, LESSON, IMPORTS, "def other(): pass", "def broken(:")
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        assert f"it does not define {NAME}" in said(capsys)

    def test_a_cell_that_is_no_python_is_not_said_to_define_nothing(self, learn, capsys):
        write(learn, LESSON, IMPORTS, cell(OWN.replace("(-2, -1)", "(-2, -1"), NAME))
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        assert f"the cell that defines {NAME} has a syntax error" in said(capsys)

    def test_notebooks_that_carry_from_one_another_come_to_an_end(self, learn, capsys, monkeypatch):
        monkeypatch.setenv(carry.DEPTH, str(len(carry.SECONDS)))
        write(learn, LESSON, IMPORTS, cell(OWN, NAME))
        assert carry.carry(LESSON, NAME) is modules.scaled_dot_product_attention
        assert "in a circle" in said(capsys)

    def test_an_unknown_block_is_the_authors_error(self, learn):
        with pytest.raises(ValueError, match="no block is called 'Attentoin'"):
            carry.carry(LESSON, "Attentoin")


def test_only_what_the_name_needs_is_taken(tmp_path):
    notebook = write(
        tmp_path, "x", "import torch\nimport os", "a = 1\nb = a + 1", "c = b\nprint(c)", "b = 5",
        cell("def f(x: torch.Tensor):\n    return x + b + g(x)", "f"), "def g(x):\n    return a",
        "def f(x):\n    return 'a later try'", "%timeit f(1)\n!ls\nh = 1",
    )  # fmt: skip
    wanted = (
        "import torch\na = 1\nb = 5\ndef f(x: torch.Tensor):\n    return x + b + g(x)\n"
        "def g(x):\n    return a\n"
    )
    assert source_of(notebook, "f").replace("\n\n", "\n") == wanted
    assert source_of(notebook, "h") == "h = 1\n"
    with pytest.raises(NotFoundInNotebook):
        source_of(notebook, "z")


def test_a_name_imported_again_further_down_is_there_for_what_stands_between(tmp_path):
    between = "class Layer(nn.Module):\n    part = nn.Linear"
    notebook = write(tmp_path, "x", "from torch import nn", between, "from torch import nn")
    namespace: dict = {}
    exec(source_of(notebook, "Layer"), namespace)
    assert namespace["Layer"].part is torch.nn.Linear


def test_names_inside_a_function_are_its_own(tmp_path):
    """A demonstration that uses the same names, and anything else, must not be run for it."""
    notebook = write(
        tmp_path, "x", "c, n = 2, 3",
        "def f(x):\n    q, k = x\n    rows = [q for q in range(n)]\n    return q + k, rows",
        "def g(z):\n    def h():\n        return c\n    return h", "x = k = q = rows = f((1, 2))",
    )  # fmt: skip
    assert source_of(notebook, "f").startswith("c, n = (2, 3)\ndef f(x):")
    assert "x = k" not in source_of(notebook, "f")
    assert source_of(notebook, "g").startswith("c, n = (2, 3)\ndef g(z):")


def test_star_and_future_imports_are_kept_in_front(tmp_path):
    notebook = write(
        tmp_path, "x", "from math import *", "from __future__ import annotations",
        "def f():\n    return pi",
    )  # fmt: skip
    assert source_of(notebook, "f").startswith("from __future__ import annotations\nfrom math")

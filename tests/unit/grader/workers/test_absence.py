"""What is taken out of a process is gone for good, by whatever road it is sought."""

import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType

import pytest

from grader.workers.absence import does
from utils.checks.registry import probes

SETUP = """
import gc, sys, threading, warnings
import torch
from torch import nn
from torch.nn import functional as F
from grader.workers import absence
from utils.checks.framework.forbidden import Forbidden
from utils.checks.registry import probes
from torch._higher_order_ops.flex_attention import math_attention
from torch.ao.nn import quantizable
kept, heads = F.multi_head_attention_forward, F.scaled_dot_product_attention
absence.kernels(), absence.in_python()
gc.freeze()
"""
TAKE_OUT = """
absence.take_out([probes()[exercise]])
q = torch.rand(2, 3, 4)
"""
# One process sets up and runs each code in a fork of its own, as a fork server does.
FORKS = """
import json, os, tempfile, traceback

def run(setup, code, **names):
    with tempfile.TemporaryFile("w+") as errors:
        pid = os.fork()
        if pid == 0:
            os.dup2(errors.fileno(), 2)
            failed = 1
            try:
                exec(setup + code, globals() | names)
                failed = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(failed)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        errors.seek(0)
        return ended, errors.read()

for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
"""


@dataclass(frozen=True)
class Done:
    """How a code ended in a process of its own."""

    returncode: int
    stderr: str


class Warm:
    """A process that has set up once, and runs codes in forks."""

    def __init__(self, setup: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", setup + FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, setup: str, code: str, **names: str) -> Done:
        asked = json.dumps({"setup": setup, "code": code} | names)
        print(asked, file=self._process.stdin, flush=True)
        return Done(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    made = Warm(SETUP)
    yield made
    made.close()


@pytest.fixture
def run(warm: Warm):
    """Run a code where what an exercise forbids is taken out."""
    return lambda exercise, code: warm.run(TAKE_OUT, code, exercise=exercise)


GONE = {
    "its name": ("SelfAttention", "F.scaled_dot_product_attention(q, q, q)"),
    "a kept name": ("SelfAttention", "heads(q, q, q)"),
    "a map over the batch": ("SelfAttention", "torch.vmap(heads)(q, q, q)"),
    "a kept function in Python": ("SelfAttention", "kept(q, q, q)"),
    "a module": ("SelfAttention", "nn.MultiheadAttention(4, 2)(q, q, q)"),
    "a layer's norm": ("LayerNorm", "nn.LayerNorm(4)(q)"),
    "a softmax in Python": ("stable_softmax", "torch._refs.softmax(q, -1)"),
    "a decomposition": ("stable_softmax", "torch.ops.aten.softmax.int.decompose(q, -1)"),
    "a gated cell": ("rnn_cell", "nn.GRUCell(4, 5)(q[0])"),
    "a function by its whole name": ("LayerNorm", "torch._refs._normalize(q, [2], 1e-5)"),
    "a private function": ("SelfAttention", "math_attention(q, q, q, None, (), 1.0, {})"),
    "a distribution's transform": (
        "stable_softmax", "torch.distributions.transforms.SoftmaxTransform()(q)"),
    "a class's other method": (
        "SelfAttention", "quantizable.MultiheadAttention._forward_impl(None, q, q, q)"),
    "a layer around one": ("EncoderLayer", "nn.TransformerDecoderLayer.forward(None, q, q)"),
    "a stack of layers": ("EncoderLayer", "nn.TransformerEncoder.forward(None, q)"),
}  # fmt: skip


@pytest.mark.parametrize("way", GONE)
def test_what_an_exercise_forbids_is_refused_in_a_sentence(run, way):
    exercise, code = GONE[way]
    done = run(exercise, code)
    assert "Forbidden: " in done.stderr, done.stderr
    assert "does what this exercise asks you to build" in done.stderr


def names_forbidden() -> list[tuple[str, str]]:
    """The names of torch's that each exercise forbids, where kernels are taken out for it."""
    return [
        (probe.exercise, name)
        for probe in probes().values()
        for name in (probe.forbidden if probe.kernels else ())
        if name.startswith("torch.")
    ]


def test_every_name_that_an_exercise_forbids_has_a_part_that_is_taken_out():
    left = [pair for pair in names_forbidden() if not is_taken_out(*pair)]
    assert left == []


def is_taken_out(exercise: str, name: str) -> bool:
    found = pkgutil.resolve_name(name)
    found = getattr(found, "forward", found)
    parts = probes()[exercise].kernels
    if isinstance(found, FunctionType):
        return any(does(part, found) for part in parts)
    return any(part in name.rpartition(".")[2] for part in parts)


STAYS = {
    "softmax beside attention": ("SelfAttention", "q.softmax(-1)"),
    "a norm beside attention": ("EncoderLayer", "nn.LayerNorm(4)(q)"),
    "attention beside a norm": ("LayerNorm", "heads(q, q, q)"),
    "building what may not compute": ("MultiHeadAttention", "nn.TransformerEncoderLayer(4, 2)"),
    "an optimiser": ("SelfAttention", "torch.optim.Adam([nn.Parameter(q)]).step()"),
    "gradients": ("stable_softmax", "torch.func.grad(lambda x: x.exp().sum())(q)"),
}  # fmt: skip


@pytest.mark.parametrize("way", STAYS)
def test_what_it_does_not_forbid_stays(run, way):
    done = run(*STAYS[way])
    assert done.returncode == 0, done.stderr


def test_what_was_taken_out_cannot_be_loaded_afresh(run):
    code = "import importlib; importlib.reload(F)"
    assert "is not here while grading" in run("SelfAttention", code).stderr


def test_torchs_warning_of_replaced_kernels_is_not_shown(run):
    assert "Overriding" not in run("SelfAttention", "pass").stderr


ENGINES = """
import gc, sys
import torch
from grader.workers import absence
base = torch._C.Graph.__base__
graph = torch._C.parse_ir("graph(%x : Tensor):\\n  %y : Tensor = aten::relu(%x)\\n  return (%y)")
"""
CLOSE = """
absence.close_other_engines()
absence.close_other_engines()
"""


@pytest.fixture(scope="module")
def with_engines() -> Iterator[Warm]:
    made = Warm(ENGINES)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("torch._C._jit_to_static_module(graph)", "AttributeError"),
        ("torch._C._jit_set_llga_enabled(True)", "AttributeError"),
        ("torch._C._te.TensorExprKernel(graph)", "AttributeError"),
        ("sys.modules['torch._C._te']", "KeyError"),
        ("torch._C.parse_ir('graph():\\n  return ()')", "AttributeError"),
        ("graph.create('prim::StaticSubgraph', 1)", "AttributeError"),
        ("next(graph.nodes()).g_('Subgraph', graph)", "AttributeError"),
        ("torch.ones(2, 3).to_mkldnn()", "Forbidden"),
        ("torch.empty(2, 3, layout=torch._mkldnn)", "Forbidden"),
        (
            "next(c for c in base.__subclasses__() if c.__name__ == 'TensorExprKernel')(graph)",
            "No constructor defined",
        ),
    ],
)
def test_an_engine_beside_the_dispatcher_is_reached_by_no_road(with_engines, code, error):
    done = with_engines.run(CLOSE, code)
    assert error in done.stderr
    assert "close_other_engines" not in done.stderr


def test_a_function_that_was_frozen_for_the_collector_is_found_and_refuses():
    frozen_first = SETUP.replace("kept, heads", "gc.freeze()\nkept, heads")
    code = "try:\n    kept()\nexcept Forbidden:\n    print('refused')"
    whole = "exercise = 'MultiHeadAttention'" + frozen_first + TAKE_OUT + code
    ended = subprocess.run(
        [sys.executable, "-c", whole],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == "refused\n", ended.stderr

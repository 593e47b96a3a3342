"""torch without its files: what honest work uses goes on, and nothing is looked for."""

import pytest

from tests.forks import run_scripts

SETUP = """
import sys
import warnings
warnings.simplefilter("ignore")
import torch
from torch import nn
from grader.workers import torch_in_memory
import utils.experiments.profiling
torch_in_memory.load_the_rest()
class NotInFiles:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchgen", "functorch"):
            raise ModuleNotFoundError(f"{name} was looked for in files")
sys.meta_path.insert(0, NotInFiles())
x, m = torch.rand(4, 3), nn.Linear(3, 3)
"""
SCRIPT = """
for code in sys.argv[1:]:
    try:
        exec(code)
    except Exception as error:
        print(code, type(error).__name__, error)
"""
USED = {
    "a compiler for GPUs without a GPU, untold": (
        "assert not torch.utils.cpp_extension.logger.isEnabledFor(30)"
    ),
    "printing": "repr((x, m, x.double(), x > 0.5))",
    "an optimiser": "o = torch.optim.AdamW(m.parameters()); m(x).sum().backward(); o.step()",
    "another optimiser": "torch.optim.LBFGS(m.parameters()).step(lambda: m(x).sum())",
    "comparing tensors": "torch.testing.assert_close(x, x.clone())",
    "derivatives": "torch.func.jacrev(torch.exp)(x[0]); torch.func.jacfwd(torch.exp)(x[0])",
    "second derivatives": "torch.func.hessian(lambda r: r.exp().sum())(x[0])",
    "a derivative by rows": "torch.autograd.functional.jacobian(torch.exp, x[0], vectorize=True)",
    "checked derivatives": "torch.autograd.gradcheck(torch.exp, x.double().requires_grad_())",
    "a map over rows": "torch.vmap(lambda r: r.sum())(x)",
    "determinism": "torch.use_deterministic_algorithms(True)",
    "compiling": "assert torch.equal(torch.compile(torch.exp)(x), x.exp())",
    "a compiling decorator": "torch.compile(mode='max-autotune')(m)(x)",
    "forgetting what was compiled": "torch.compiler.reset(); torch._dynamo.reset()",
    "settings of a compiler": "torch._dynamo.config.x = 1; torch._inductor.config.triton.x = 1",
    "a compiler by its name": "assert torch._dynamo.optimize('eager')(m) is m",
    "what is not to be compiled": "assert torch.compiler.disable()(m) is m",
    "a stance": "with torch.compiler.set_stance('force_eager'): m(x)",
    "profiling": "with torch.profiler.profile() as p: m(x)\np.key_averages().table()",
    "whether it compiles": "assert not torch.compiler.is_compiling()",
    "scripting": "assert torch.equal(torch.jit.script(lambda x: nn.functional.relu(x))(x), x)",
    "checkpoints": "torch.utils.checkpoint.checkpoint(m, x, use_reentrant=False)",
    "the device without numbers": "torch.empty(3, device='meta') + 1",
    "timing": "from torch.utils import benchmark\nbenchmark.Timer('1 + 1').timeit(2)",
    "loading data": "list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), 2))",
    "tracing": "torch.jit.trace(lambda x: x + 1, x)(x)",
    "sequences of any length": "torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged) * 2",
}


NOT_LOADED = "import torch.testing._internal.common_utils"
TRACE = (
    "opened = []\n"
    "def hear(event, arguments):\n"
    "    if event == 'open' and '/torch/' in str(arguments[0]):\n"
    "        opened.append(arguments[0])\n"
    "sys.addaudithook(hear)\n"
    "def trace(_):\n"
    "    import traceback\n"
    "    lines.extend(traceback.format_stack())\n"
    "lines = []\n"
    "layer = torch.nn.ReLU()\n"
    "layer.register_forward_hook(lambda *_: trace(0))\n"
    "layer(x)\n"
    "assert any('/torch/nn/modules/' in line for line in lines)\n"
    "assert not opened, opened"
)


@pytest.fixture(scope="module")
def failures():
    """What each code printed of its failure, all in copies of one process."""
    codes = {NOT_LOADED: (NOT_LOADED,), TRACE: (TRACE,), "used": tuple(USED.values())}
    done = run_scripts(SETUP, *((SCRIPT, *given) for given in codes.values()))
    assert [one.returncode for one in done] == [0] * len(codes), done
    return {name: one.stdout for name, one in zip(codes, done, strict=True)}


def test_what_honest_work_uses_needs_no_file_of_torch(failures):
    assert failures["used"] == ""


def test_what_torch_has_not_loaded_is_looked_for_in_files(failures):
    assert "was looked for in files" in failures[NOT_LOADED]


def test_a_stack_trace_opens_no_file_of_torch(failures):
    assert failures[TRACE] == ""

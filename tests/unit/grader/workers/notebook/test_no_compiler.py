"""torch without its compiler: what honest work uses goes on."""

from tests.forks import run_scripts

SETUP = """
import sys
import warnings
warnings.simplefilter("ignore")
import torch
from torch import nn
from grader.workers.notebook import no_compiler
no_compiler.go_without()
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


def test_what_honest_work_uses_goes_on_without_the_compiler():
    (done,) = run_scripts(SETUP, (SCRIPT, *USED.values()))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr

"""Attacks on the process in which a notebook runs: its shell, torch, builtins, our own modules."""

from tests.attacks.attack import Attack

FAKE = "{'weights': 1, 'output': 1}"
SDPA = "scaled_dot_product_attention"


def patch(name: str, tries: str, *code: str) -> Attack:
    return Attack(name, tries, code, status=("graded", "crashed"))


OBSERVE_TORCH = """
import torch
f = torch.nn.functional.scaled_dot_product_attention
def right(q, k, v, mask=None):
    one = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
    return f(q, k, v, mask), f(q, k, one, mask)
kept = w.attempt
w.attempt = lambda probe, case, answer, *inputs: kept(probe, case, right, *inputs)
"""
FOUND = {
    "sys.modules": "import sys\nw = sys.modules['grader.workers.runner']",
    "sys.modules, another name": "import sys as s\nw, = [m for n, m in list(s.modules.items()) if n.endswith('workers.runner')]",
    "modules of sys": "from sys import modules as m\nw = m['.'.join(['grader', 'workers', 'runner'])]",
    "modules, imported inside": "def find():\n    import sys as s\n    return s.modules['.'.join(['grader', 'workers', 'runner'])]\nw = find()",
    "vars of sys": "import sys\nw = vars(sys)['modules']['.'.join(['grader', 'workers', 'runner'])]",
    "getattr of sys": "import sys\nw = getattr(sys, 'mod' + 'ules')['.'.join(['grader', 'workers', 'runner'])]",
    "all of sys": "from sys import *\nw = modules['.'.join(['grader', 'workers', 'runner'])]",
    "sys of another module": "import warnings\nw = warnings.sys.modules['.'.join(['grader', 'workers', 'runner'])]",
    "sys, a name taken later by another": "import sys\nw = sys.modules['.'.join(['grader', 'workers', 'runner'])]\nimport math as sys",
    "importlib": "import importlib\nw = importlib.import_module('gra' + 'der.workers.runner')",
    "__import__": "w = __import__('gra' + 'der.workers.runner', fromlist=['x'])",
    "exec": "exec('import gra' + 'der.workers.runner as w')",
    "an import inside": "def find():\n    import grader.workers.runner as w\n    return w\nw = find()",
    "pkgutil": "import pkgutil\nw = pkgutil.resolve_name('gra' + 'der.workers.runner')",
    "pydoc": "from pydoc import locate\nw = locate('gra' + 'der.workers.runner')",
    "runpy": "import runpy\nw = runpy.importlib.import_module('gra' + 'der.workers.runner')",
    "pickle": "import pickle\nw = pickle.loads(b'csys\\nmodules\\n.')['gra' + 'der.workers.runner']",
    "a mock": "from unittest import mock\nw = mock.patch('gra' + 'der.workers.runner.attempt').getter()",
}  # fmt: skip

PATCHING = [
    *(patch(f"observe replaced, found by {way}", "torch's attention is observed instead of the answer",
            find + OBSERVE_TORCH) for way, find in FOUND.items()),
    patch("input transformer blanks tests", "later cells become empty, and empty cells do not fail",
          "get_ipython().input_transformers_cleanup.append(lambda lines: [])"),
    patch("syntax tree without asserts", "checks disappear from the tests",
          "import ast\nclass Strip(ast.NodeTransformer):\n    def visit_Assert(self, node): return None\n"
          "get_ipython().ast_transformers.append(Strip())"),
    patch("run_cell replaced", "tests are never run",
          "get_ipython().run_cell = lambda *a, **k: None"),
    patch("run_cell_async replaced", "tests are never run",
          "async def nothing(*a, **k): return None\nget_ipython().run_cell_async = nothing"),
    patch("display hook prints full marks", "the last value of a test cell becomes its points",
          "import sys\nsys.displayhook = lambda value: print(8.0)"),
    patch("display replaced", "the shown verdict becomes another one",
          "import IPython.display as d\nd.display = lambda *a, **k: print('8 of 8 points')"),
    patch("check replaced in the notebook", "tests call the student's own check",
          "class Check:\n    def __getattr__(self, name):\n        return lambda *a, points=None, **k: points\ncheck = Check()"),
    patch("check replaced in its module", "the import brings the student's own check",
          "import utils.checks\nclass Check:\n    def __getattr__(self, name):\n        return lambda *a, points=None, **k: points\n"
          "utils.checks.check = Check()"),
    patch("judge replaced", "every answer is judged right",
          "import utils.checks.judge as j\nimport utils.checks.case_results as c\nj.judge = lambda *a, **k: None\nc.compare = lambda *a, **k: None"),
    patch("compare replaced", "no difference is found",
          "import utils.checks.compare.compare as c\nc.compare = lambda *a, **k: None\nc.close = lambda *a: True"),
    patch("observe replaced by the oracle", "the oracle's results are sent instead of the answer's",
          "import utils.checks.observe.observe as o\nfrom utils.reference.attention.torch_attention import reference_attention\n"
          "import grader.workers.runner as w\nkept = o.observe_all\n"
          "w.observe_all = lambda probe, cases, answer, quiet: kept(probe, cases, reference_attention, quiet=True)"),
    patch("observe rewritten through the garbage collector", "as before, with no import that tells",
          "import gc\nfor f in gc.get_objects():\n    if getattr(f, '__name__', '') == 'observe_all':\n"
          "        f.__code__ = (lambda *a, **k: []).__code__"),
    patch("probes replaced", "the exercise is questioned with an easy question",
          "import utils.checks.registry as r\nr.probes = lambda: {}"),
    patch("torch.allclose is always true", "comparisons succeed",
          "import torch\ntorch.allclose = lambda *a, **k: True\ntorch.equal = lambda *a, **k: True"),
    patch("torch.Tensor compares as equal", "comparisons succeed",
          "import torch\ntorch.Tensor.__eq__ = lambda self, other: True\ntorch.Tensor.__ne__ = lambda self, other: False"),
    patch("numpy says that all is close", "comparisons succeed",
          "import numpy as np\nnp.isclose = lambda a, b, **k: np.ones(np.shape(a), bool)\nnp.allclose = lambda *a, **k: True"),
    patch("numpy counts no difference", "nothing is found to differ",
          "import numpy as np\nnp.argwhere = lambda *a: np.zeros((0, 2), int)\nnp.logical_not = lambda x: np.zeros_like(x)"),
    patch("builtins lie", "checks of types and sums succeed",
          "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.all = lambda *a: True\nbuiltins.any = lambda *a: False"),
    patch("exceptions are swallowed", "a failing answer does not fail",
          "import sys\nsys.excepthook = lambda *a: None\nimport builtins\nbuiltins.NotImplementedError = type('E', (Exception,), {})"),
    patch("json writes what is wanted", "observations are rewritten as they are sent",
          "import json\nkept = json.dumps\njson.dumps = lambda data, **k: kept({'exercise': 'causal_mask', 'case': 0})"),
    patch("main is replaced", "names are looked up in another module",
          "import sys, types\nsys.modules['__main__'] = types.ModuleType('__main__')"),
    patch("seeds are frozen", "all inputs are zeros, for which any answer is right",
          "import torch\ntorch.randn = lambda *s, generator=None, dtype=None: torch.zeros(s)\n"
          "torch.Generator = lambda *a: None"),
    patch("inputs are replaced", "the questions become trivial",
          "import utils.checks.lessons.inputs as i, torch\ni.Draw.normal = lambda self, *s, scale=None: torch.zeros(s)"),
    patch("the sandbox module is patched", "walls fall",
          "import grader.sandbox.walls.confine as c\nc.confine = lambda *a: None"),
    patch("a trace function rewrites results", "values change on their way",
          "import sys\ndef trace(frame, event, arg):\n    frame.f_locals['passed'] = True\n    return trace\nsys.settrace(trace)"),
    patch("atexit and finalizers", "something is sent after the end",
          "import atexit, os\natexit.register(lambda: os.write(3, b'\\x05\\x00\\x00\\x00hello'))"),
]  # fmt: skip

# Right numbers, made where torch records nothing; an answer's head stands behind it.
WITHOUT_GRADIENTS = """
import torch
@torch.no_grad()
def attend(q, k, v, mask):
    s = q @ k.mT / k.shape[-1] ** 0.5
    empty = torch.zeros(()).bool() if mask is None else ~mask.any(-1, keepdim=True)
    w = (s if mask is None else s.masked_fill(~(mask | empty), -torch.inf)).softmax(-1).masked_fill(empty, 0)
    return w @ v, w
def scaled_dot_product_attention(q, k, v, mask=None):"""
LYING = [
    Attack(name, "an object that equals, or is shaped like, whatever it is compared with",
           answers={SDPA: code}, holds=())
    for name, code in {
        "object equal to everything": "class Yes:\n    def __eq__(self, o): return True\n    shape = property(lambda s: s)\n    dtype = None\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return Yes(), Yes()",
        "tensor subclass": "import torch\nclass Yes(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, t, a=(), k=None): return True\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return torch.zeros(1).as_subclass(Yes), torch.zeros(1).as_subclass(Yes)",
        "array with its own methods": "import numpy as np\nclass Yes(np.ndarray):\n    def __array_ufunc__(self, *a, **k): return True\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return np.zeros(2).view(Yes), np.zeros(2).view(Yes)",
        "tuple subclass": "class Two(tuple):\n    def __len__(self): return 2\n    def __iter__(self): return iter((None, None))\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return Two()",
        "string subclass": "class S(str):\n    def __eq__(self, o): return True\n    def __hash__(self): return 0\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return S('a'), S('b')",
        "float that equals everything": "class F(float):\n    def __eq__(self, o): return True\npredict_score_spread = F('nan')",
        "result that changes later": "import torch\nkept = []\ndef scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    kept.append(torch.zeros(q.shape[:-1] + (k.shape[-2],), requires_grad=True)); return kept[-1] @ v, kept[-1]",
        "not a number everywhere": "def scaled_dot_product_attention(q, k, v, mask=None):\n    s = q @ k.mT * float('nan')\n    return s @ v, s",
        "no gradients, and an input written into": f"{WITHOUT_GRADIENTS}\n    q.add_(0)\n    return attend(q, k, v, mask)",
        "no gradients, an input written into, and backward that fails":
        f"{WITHOUT_GRADIENTS}\n    if q.requires_grad: raise RuntimeError\n    q.add_(0)\n    return attend(q, k, v, mask)",
        "backward that fails behind an input written into":
        f"{WITHOUT_GRADIENTS}\n    q.add_(0)\n    s = q @ k.mT / k.shape[-1] ** 0.5\n    empty = torch.zeros(()).bool() if mask is None else ~mask.any(-1, keepdim=True)\n"
        "    s = s if mask is None else s.masked_fill(~(mask | empty), -torch.inf)\n    w = (s - s.detach().amax(-1, keepdim=True)).exp()\n"
        "    w /= w.sum(-1, keepdim=True)\n    w = w.masked_fill(empty, 0)\n    return w @ v, w",
        "answers once asked the same again": "seen = {}\ndef scaled_dot_product_attention(q, k, v, mask=None):\n    s = (q @ k.mT) * 0\n    return s @ v, s",
    }.items()
]  # fmt: skip

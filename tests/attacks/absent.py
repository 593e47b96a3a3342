"""What an exercise forbids, and its right answer, sought in the process by every other road."""

from tests.attacks.attack import Attack

START, RNN, HEADS, WAVES, ENCODER, TRAINING = (
    "00_start_here", "01_rnn_limits", "03_multi_head_attention", "04_positional_encoding",
    "05_encoder", "06_training",
)  # fmt: skip
ATTENTION = """
import torch, threading
from torch import nn
from torch.nn import functional as F
OPS = torch.ops.aten
{before}
def by(q, k, v, mask=None):
    {one}
def scaled_dot_product_attention(q, k, v, mask=None):
    eye = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
    return by(q, k, v, mask), by(q, k, eye, mask)
"""
BACK = "\n    box = []\n    "  # after which something puts its result into the box
SDPA = "F.scaled_dot_product_attention(q, k, v, mask)"


def attention(name: str, one: str, before: str = "") -> Attack:
    """An attention computed by torch on some way."""
    source = ATTENTION.format(one=one, before=before)
    return Attack(
        f"absent: {name}", "torch's own attention", answers={"scaled_dot_product_attention": source}
    )


def other(name: str, lesson: str, exercise: str, source: str) -> Attack:
    """An exercise of another lesson, solved by what does all of it."""
    head = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
    return Attack(
        f"absent: {name}",
        "what the exercise asks to build",
        answers={exercise: head + source},
        lesson=lesson,
    )


def softmax(name: str, value: str) -> Attack:
    source = f"def stable_softmax(x, dim=-1):\n    y = {value}\n    return y.nan_to_num(0.0)"
    return other(f"softmax by {name}", START, "stable_softmax", source)


def cell(name: str, value: str) -> Attack:
    source = f"def rnn_cell(x_t, h, w_x, w_h, b):\n    zero = torch.zeros_like(b)\n    {value}"
    return other(f"a recurrent cell by {name}", RNN, "rnn_cell", source)


def norm(name: str, value: str, before: str = "pass") -> Attack:
    source = (
        f"{before}\nclass LayerNorm(nn.Module):\n    def __init__(self, d_model, eps=1e-5):\n        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.ones(d_model))\n        self.bias = nn.Parameter(torch.zeros(d_model))\n"
        f"        self.eps = eps\n    def forward(self, x):\n        size = x.shape[-1:]\n        return {value}"
    )
    return other(f"a normalisation by {name}", ENCODER, "LayerNorm", source)


def heads(name: str, value: str, before: str = "") -> Attack:
    source = (
        f"{before}\nclass MultiHeadAttention(nn.Module):\n    def __init__(self, d_model, n_heads, dropout=0.0):\n        super().__init__()\n"
        "        self.n_heads, self.dropout = n_heads, dropout\n"
        "        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))\n"
        "    def forward(self, query, key, value, mask=None):\n"
        "        blocked = None if mask is None else (~mask.expand(len(query), query.shape[1], key.shape[1])).repeat_interleave(self.n_heads, 0)\n"
        "        parts = (self.w_q, self.w_k, self.w_v)\n"
        "        joined = dict(in_proj_weight=torch.cat([p.weight for p in parts]), in_proj_bias=torch.cat([p.bias for p in parts]))\n"
        f"        {value}"
    )
    return other(f"heads by {name}", HEADS, "MultiHeadAttention", source)


# A module that is not here is made up, so that what stays of it can be called.
EAGER = (
    "import sys, types\nstub = types.ModuleType('torch.nn.attention.flex_attention')\n"
    "stub._vmap_for_bhqkv = lambda f, prefix, suffix=(): f\nsys.modules[stub.__name__] = stub\n"
    "from torch._higher_order_ops.flex_attention import math_attention as whole\n"
    "def plain(q, k, v, mask):\n"
    "    wide = lambda x: x.reshape(-1, 1, *x.shape[-2:])\n"
    "    m = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else wide(mask.expand(*q.shape[:-1], k.shape[-2]))\n"
    "    out = whole(wide(q), wide(k), wide(v), lambda s, *_: s, (1, 1, lambda *_: m), q.shape[-1] ** -0.5, {})[0]\n"
    "    return out.to(q.dtype).reshape(*q.shape[:-1], v.shape[-1]).nan_to_num(0.0)"
)
# Values from elsewhere, with the gradients of a softmax.
WITH_GRADIENTS = "    d = x - x.detach()\n    return y + y * (d - (y * d).sum(dim, keepdim=True))"
GRAPH = """
torch._C._jit_set_te_must_use_llvm_cpu(False)
def graph(x, dim):
    sizes, strides = ', '.join(map(str, x.shape)), ', '.join(map(str, x.stride()))
    kind = f'Float({sizes}, strides=[{strides}], requires_grad=0, device=cpu)'
    return torch._C.parse_ir(
        f'graph(%x : {kind}):\\n  %d : int = prim::Constant[value={dim}]()\\n  %n : NoneType = prim::Constant()\\n'
        f'  %y : {kind} = aten::softmax(%x, %d, %n)\\n  return (%y)')
"""
STATIC = """
def static(x):
    run = torch._C._jit_to_static_module(torch._C.parse_ir(
        f'graph(%x : Tensor):\\n  %s : int = prim::Constant[value={x.shape[-1]}]()\\n  %l : int[] = prim::ListConstruct(%s)\\n'
        '  %n : NoneType = prim::Constant()\\n  %e : float = prim::Constant[value=1.e-5]()\\n  %b : bool = prim::Constant[value=0]()\\n'
        '  %y : Tensor = aten::layer_norm(%x, %l, %n, %n, %e, %b)\\n  return (%y)'))
    y = run(x.detach()).clone()
    mean, d = (lambda z: z.mean(-1, keepdim=True)), x - x.detach()
    rate = y.std(-1, keepdim=True) / x.detach().std(-1, keepdim=True)
    return y + rate * (d - mean(d) - y * mean(y * d))
"""


def fused(name: str, find: str) -> Attack:
    """A softmax of a graph, run by the interpreter that torch's fuser has."""
    answer = f"y = fuser(graph(x, dim)).run((x.detach().contiguous(),))\n{WITH_GRADIENTS}"
    source = f"{GRAPH}{find}\ndef stable_softmax(x, dim=-1):\n    {answer}"
    return other(f"softmax by {name}", START, "stable_softmax", source)


FORWARD = (
    "out, w = f(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), query.shape[-1], self.n_heads,"
    " *joined.values(), None, None, False, 0.0, self.w_o.weight, self.w_o.bias, attn_mask=blocked, average_attn_weights=False)\n"
    "        return out.transpose(0, 1), w"
)
ABSENT = [
    attention("in a thread", f"{BACK}t = threading.Thread(target=lambda: box.append({SDPA}))\n    t.start(); t.join()\n    return box[0]"),
    attention("in a pool of threads", f"return Pool(1).submit(lambda: {SDPA}).result()", "from concurrent.futures import ThreadPoolExecutor as Pool"),
    attention("inside apply_", f"{BACK}torch.zeros(1).apply_(lambda _: box.append({SDPA}) or 0.0)\n    return box[0]"),
    attention("inside map_", f"{BACK}torch.zeros(1).map_(torch.zeros(1), lambda *_: box.append({SDPA}) or 0.0)\n    return box[0]"),
    attention("in a module's hook", f"{BACK}m = nn.Identity()\n    m.register_forward_hook(lambda *_: box.append({SDPA}))\n    m(q)\n    return box[0]"),
    attention("by a subclass of tensors", "return " + SDPA.replace("(q,", "(q.as_subclass(Own),") + ".as_subclass(torch.Tensor)",
              "class Own(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, t, a=(), k=None):\n        with torch._C.DisableTorchFunctionSubclass(): return f(*a, **(k or {}))"),
    attention("with torch functions disabled", f"with torch._C.DisableTorchFunction(): return {SDPA}"),
    attention("traced", f"return torch.jit.trace(lambda q, k, v: {SDPA}, (q, k, v), check_trace=False)(q, k, v)"),
    attention("as a graph", "return own(q, k, v, mask)", f"from torch import fx\nown = fx.symbolic_trace(lambda q, k, v, mask: {SDPA})"),
    attention("one kernel of an operator", "return OPS.scaled_dot_product_attention.default._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, q, k, v, mask)"),
    attention("decomposed", "return OPS.scaled_dot_product_attention.default.decompose(q, k, v, mask)"),
    attention("redispatched", "return OPS.scaled_dot_product_attention.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), q, k, v, mask)"),
    attention("a packet of operators", "return OPS.scaled_dot_product_attention(q, k, v, mask)"),
    attention("a longer prefix", "return torch.functional.torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)"),
    attention("another private name", "return torch._scaled_dot_product_attention_math(q, k, v, mask)[0]"),
    attention("mapped over the batch", "return torch.vmap(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))(q, k, v)"),
    attention("under a gradient", "return torch.func.vjp(lambda q: F.scaled_dot_product_attention(q, k, v, mask), q)[0]"),
    attention("kept as a default", "return kept(q, k, v, mask)", "def kept(q, k, v, mask, f=F.scaled_dot_product_attention): return f(q, k, v, mask)"),
    attention("after every library is destroyed", f"return {SDPA}",
              "import gc\nfor x in gc.get_objects():\n    if type(x).__name__ in ('Library', '_DispatchModule'): x._destroy() if hasattr(x, '_destroy') else x.reset()"),
    attention("after another kernel was laid on top", f"return {SDPA}",
              "top = torch.library.Library('aten', 'IMPL')\ntop.impl('scaled_dot_product_attention', lambda *a, **k: 0, 'CPU', allow_override=True)\ntop._destroy()\ndel top"),
    softmax("its name", "x.softmax(dim)"),
    softmax("the kernel below", "torch._softmax(x, dim, False)"),
    softmax("its logarithm", "torch.ops.aten._log_softmax(x, dim, False).exp()"),
    softmax("the sum that it needs", "(x - torch.special.logsumexp(x, dim, keepdim=True)).exp()"),
    softmax("the table of decompositions", "torch._decomp.decomposition_table[torch.ops.aten._softmax.default](x, dim, False)"),
    softmax("a masked one", "torch.masked.softmax(x, dim)"),
    softmax("a distribution", "torch.distributions.Categorical(logits=x.movedim(dim, -1)).probs.movedim(-1, dim)"),
    softmax("a trace", "torch.jit.trace(lambda x: x.softmax(dim), x, check_trace=False)(x)"),
    softmax("the map of a batch", "torch.vmap(lambda x: x.softmax(-1))(x) if dim == -1 else x"),
    softmax("a module's method, kept", "(nn.Softmax.forward)(nn.Softmax(dim), x)"),
    cell("torch's", "return torch.rnn_tanh_cell(x_t, h, w_x, w_h, b, zero)"),
    cell("the operator", "return torch.ops.aten.rnn_tanh_cell(x_t, h, w_x, w_h, b, zero)"),
    cell("a sequence of one", "return torch.ops.aten.rnn_tanh.input(x_t[None], h[None], [w_x, w_h, b, zero], True, 1, 0.0, False, False, False)[0][0]"),
    cell("gates held open", "one = torch.full_like(b, -50)\n    w = lambda w: torch.cat([w * 0, w * 0, w])\n    return torch.gru_cell(x_t, h, w(w_x), w(w_h) * 0, torch.cat([one, one, b]), torch.cat([zero] * 3)) if not h.any() else torch.gru(x_t[None], h[None], [w(w_x), w(w_h), torch.cat([-one, one, b]), torch.cat([zero] * 3)], True, 1, 0.0, False, False, False)[0][0]"),
    norm("its name", "F.layer_norm(x, size, self.weight, self.bias, self.eps)"),
    norm("the kernel below", "torch.native_layer_norm(x, size, self.weight, self.bias, self.eps)[0]"),
    norm("one group", "F.group_norm(x.flatten(0, -2), 1, self.weight, self.bias, self.eps).view_as(x)"),
    norm("torch's own Python", "torch._refs.native_layer_norm(x, size, self.weight, self.bias, self.eps)[0]"),
    norm("a batch turned round", "F.batch_norm(x.flatten(0, -2).T, None, None, training=True, eps=self.eps).T.view_as(x) * self.weight + self.bias"),
    norm("a module's method, kept", "kept(self, x)", "kept = lambda s, x: (setattr(s, 'normalized_shape', x.shape[-1:]), nn.LayerNorm.forward(s, x))[1]"),
    norm("the map of a batch", "torch.vmap(lambda r: F.layer_norm(r, size, self.weight, self.bias, self.eps))(x.flatten(0, -2)).view_as(x)"),
    heads("torch's function, kept", FORWARD, "f = F.multi_head_attention_forward"),
    heads("a copy of torch's function", FORWARD, "import types\nk = F.multi_head_attention_forward\nf = types.FunctionType(k.__code__, vars(F), 'f', k.__defaults__)"),
    attention("the eager half of a compiled one", "return plain(q, k, v, mask)", EAGER),
    fused("a fuser", "fuser = torch._C._te.TensorExprKernel"),
    fused("a fuser that is still listed", "import sys\nfuser = sys.modules['torch._C._te'].TensorExprKernel"),
    fused("a fuser found by its base", "fuser = next(c for c in torch._C.Graph.__base__.__subclasses__() if c.__name__ == 'TensorExprKernel')"),
    other("softmax by a picture of it", START, "stable_softmax",
          "from utils.drawn.looks import _softmax as s\ndef stable_softmax(x, dim=-1):\n    rows = x.movedim(dim, -1)\n"
          f"    y = torch.tensor([s(r) for r in rows.reshape(-1, x.shape[dim]).tolist()], dtype=x.dtype).reshape(rows.shape).movedim(-1, dim)\n{WITH_GRADIENTS}"),
    other("softmax by a picture, through its package", START, "stable_softmax",
          "from utils import drawn\ndef stable_softmax(x, dim=-1):\n    rows = x.movedim(dim, -1)\n"
          f"    y = torch.tensor([drawn.looks._softmax(r) for r in rows.reshape(-1, x.shape[dim]).tolist()], dtype=x.dtype).reshape(rows.shape).movedim(-1, dim)\n{WITH_GRADIENTS}"),
    norm("the static runtime", "static(x) * self.weight + self.bias", STATIC),
    norm("what torch's references share", "torch._refs._normalize(x, [x.dim() - 1], self.eps)[0] * self.weight + self.bias"),
]  # fmt: skip

LEND = (
    "import importlib\ndef lent(name): return importlib.import_module('utils.reference.' + name)\n"
)


def borrowed(name: str, lesson: str, exercise: str, source: str) -> Attack:
    return Attack(
        f"the answer: {name}",
        "right implementations of the course",
        answers={exercise: source},
        lesson=lesson,
    )


LENT = [
    borrowed("lent by import", "02_attention", "scaled_dot_product_attention", LEND + "scaled_dot_product_attention = lent('plain_attention').scaled_dot_product_attention"),
    borrowed("lent while it is observed", "02_attention", "scaled_dot_product_attention",
             LEND + "def scaled_dot_product_attention(*x): return lent('plain_attention').scaled_dot_product_attention(*x)"),
    borrowed("lent inside another block", "02_attention", "scaled_dot_product_attention", LEND + "scaled_dot_product_attention = lent('multi_head').scaled_dot_product_attention"),
    borrowed("carried within its own lesson", "02_attention", "scaled_dot_product_attention",
             "from utils.notebook.carry import carry\nscaled_dot_product_attention = carry('02_attention', 'scaled_dot_product_attention')"),
    borrowed("heads that are carried", HEADS, "MultiHeadAttention", "from utils.notebook.carry import carry\nMultiHeadAttention = carry('03_multi_head_attention', 'MultiHeadAttention')"),
    borrowed("heads inside an encoder that is carried", HEADS, "MultiHeadAttention",
             "from utils.notebook.carry import carry\ncarry('05_encoder', 'TransformerEncoder')\nMultiHeadAttention = carry.__globals__['importlib'].import_module('utils.reference.multi_head').MultiHeadAttention"),
    borrowed("a fault that is none", HEADS, "MultiHeadAttention",
             "from utils.experiments.buggy import FaultyAttention\nfrom torch import nn\nclass MultiHeadAttention(nn.Module):\n    def __init__(self, d, h, dropout=0.0):\n        super().__init__()\n"
             "        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d, d) for _ in range(4))\n        self.f = FaultyAttention(self, h, 'none', dropout)\n    def forward(self, *x): return self.f(*x)"),
    borrowed("the split that a picture of bugs is compared with", HEADS, "split_heads",
             "from utils.experiments.head_bugs import _right_split as split_heads"),
    borrowed("the wheel of a clock", WAVES, "sinusoidal_encoding",
             "from utils.experiments.fixed_positions import clock\ndef sinusoidal_encoding(n, d):\n    if d % 2: raise ValueError\n    return clock(n, d, 10000.0)"),
    borrowed("the sinusoids that stand in for themselves", WAVES, "sinusoidal_encoding", LEND + "sinusoidal_encoding = lent('sinusoids').sinusoidal_encoding"),
    borrowed("an embedding that a baseline uses", WAVES, "TokenEmbedding",
             "import utils.training.baseline_encoders as b\nTokenEmbedding = type(b.PerWordEncoder(3, 4, 1, 8).embedding)"),
    borrowed("an encoder's layers", ENCODER, "EncoderLayer", LEND + "EncoderLayer = lent('layer').EncoderLayer"),
    borrowed("a normalisation taken out of the loan for a layer", ENCODER, "LayerNorm", LEND + "LayerNorm = lent('parts').LayerNorm"),
    borrowed("a loss that stands in for itself", TRAINING, "token_loss", LEND + "token_loss = lent('tagging').reference_token_loss"),
    borrowed("a cell from the network that it makes", RNN, "rnn_cell", LEND + "rnn_cell = lent('recurrence').reference_cell"),
    borrowed("the code that was lent, unpacked by hand", "02_attention", "scaled_dot_product_attention",
             "import sys\nfinder = next(f for f in sys.meta_path if hasattr(f, '_ask'))\nfinder.find_spec('utils.reference.plain_attention')\n"
             "import marshal\nspace = {}\nexec(marshal.loads(finder._lent['utils.reference.plain_attention']), space)\nscaled_dot_product_attention = space['scaled_dot_product_attention']"),
]  # fmt: skip

"""Answers that plainly let torch do the exercise, under whatever name: it is refused there."""

from tests.attacks.attack import Attack

SDPA = "scaled_dot_product_attention"


def shortcut(name: str, body: str, before: str = "") -> Attack:
    source = f"{before}\ndef {SDPA}(q, k, v, mask=None):\n    one = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])\n{body}"
    return Attack(
        f"shortcut: {name}", "torch's own attention instead of one's own", answers={SDPA: source}
    )


def right(name: str, body: str, before: str = "", last: str = "") -> Attack:
    """A right answer that a hasty reader takes for a shortcut."""
    source = f"import math, torch\n{before}\ndef {SDPA}(q, k, v, mask=None):\n    empty = torch.zeros(()).bool() if mask is None else ~mask.any(-1, keepdim=True)\n{body}\n    return w @ v, w"
    return Attack(
        name,
        "a right answer is refused",
        answers={SDPA: source},
        last=[last],
        right=True,
        score=1.0,
    )


KEEP = "box = {}\ndef keep(owner, f, name='f'):\n    owner[name] = f\n"
USE = "    return f(q, k, v, mask), f(q, k, one, mask)"
SHORTCUTS = [
    shortcut("plain", "    f = torch.nn.functional.scaled_dot_product_attention\n" + USE),
    shortcut("alias", USE, "from torch.nn.functional import scaled_dot_product_attention as f"),
    shortcut("getattr", "    f = getattr(torch.nn.functional, 'scaled_dot' + '_product_attention')\n" + USE),
    shortcut("torch.ops", "    f = torch.ops.aten.scaled_dot_product_attention\n" + USE),
    shortcut("torch._C", "    f = torch._C._nn.scaled_dot_product_attention\n" + USE),
    shortcut("importlib", "    import importlib\n    f = importlib.import_module('torch.nn.functional').scaled_dot_product_attention\n" + USE),
    shortcut("eval", "    f = eval('torch.nn.functional.scaled_dot_product_attention')\n" + USE),
    shortcut("kept in an object", USE.replace("f(", "box['f']("), "box = {}\nbox['f'] = torch.nn.functional.scaled_dot_product_attention"),
    shortcut("set on torch", USE.replace("f(", "torch.mine("), "torch.mine = torch.nn.functional.scaled_dot_product_attention"),
    shortcut("the stand-in", "    return f(q, k, v, mask)", "from utils.reference.attention.torch_attention import reference_attention as f"),
    shortcut("self is torch", "    f = self._C._nn.scaled_dot_product_attention\n" + USE, "import torch as self"),
    shortcut("self assigned", "    f = self._C._nn.scaled_dot_product_attention\n" + USE, "self = torch"),
    shortcut("torch under another name", "    f = t.ops.aten.scaled_dot_product_attention\n" + USE, "t = torch"),
    shortcut("torch imported inside", "    import torch as t\n    f = t._C._nn.scaled_dot_product_attention\n" + USE),
    shortcut("torch handed on", "    f = find(torch)\n" + USE, "def find(self):\n    return self._C._nn.scaled_dot_product_attention"),
    shortcut("kept by another name of the module", USE, "G = torch.nn.functional\nf = G.scaled_dot_product_attention"),
    shortcut("getattr kept", "    f = g(g(torch._tensor.torch, '_C')._nn, 'scaled_dot' + '_product_attention')\n" + USE, "g = getattr"),
    shortcut("getattr in map", USE, "f, = map(getattr, [torch.nn.functional], ['scaled_dot' + '_product_attention'])"),
    shortcut("getattr in partial", USE, "from functools import partial\nf = partial(getattr, torch.nn.functional)('scaled_dot' + '_product_attention')"),
    shortcut("a private name", "    f = lambda *x: torch._scaled_dot_product_attention_math(*x)[0]\n" + USE),
    shortcut("methodcaller", USE, "from operator import methodcaller\nf = methodcaller('__getattribute__', 'scaled_dot' + '_product_attention')(torch.nn.functional)"),
    shortcut("kept out of the reader's sight", USE.replace("f(", "box['f']("), KEEP + "_ = keep(box, torch.nn.functional.scaled_dot_product_attention)"),
    shortcut("an operator kept out of sight", USE.replace("f(", "box['f']("), KEEP + "_ = keep(box, torch.ops.aten.scaled_dot_product_attention)"),
    shortcut("found by a text and kept out of sight", USE.replace("f(", "box['f']("), KEEP + "_ = keep(box, eval('torch.nn.functional.' + 'scaled_dot' + '_product_attention'))"),
    shortcut("through the module that torch imports modules with", "    f = torch.importlib.import_module('torch.nn.functional').scaled_dot_product_attention\n" + USE),
    shortcut("what a refusal keeps", "    f = torch.nn.functional.scaled_dot_product_attention.original\n" + USE),
    shortcut("what a refusal keeps, found by a text", USE, "def f(*x):\n    refusal = [m for n, m in vars(torch.nn.functional).items() if n.startswith('scaled_dot')][0]\n    return refusal.original(*x)"),
    shortcut("the lab's reference by another module", "    return f(q, k, v, mask)", "from utils.training.baseline_encoders import TokenEmbedding as T\nf = T.__init__.__globals__['reference_attention']"),
    right("operator's sums", "    w = operator.truediv(q @ k.mT, math.sqrt(k.shape[-1]))\n"
          "    w = w if mask is None else w.masked_fill(operator.invert(mask | empty), -torch.inf)\n"
          "    w = w.softmax(-1).masked_fill(empty, 0)", "import operator"),
    right("limits from sys", "    w = q @ k.mT / math.sqrt(max(k.shape[-1], sys.float_info.min))\n"
          "    w = w if mask is None else w.masked_fill(~mask, -sys.maxsize)\n"
          "    w = w.softmax(-1).masked_fill(empty, 0)", "import sys"),
    right("a softmax of one's own", "    w = q @ k.mT / math.sqrt(k.shape[-1])\n"
          "    w = w if mask is None else w.masked_fill(~(mask | empty), -torch.inf)\n"
          "    w = Norm()(w).masked_fill(empty, 0)",
          "def softmax(x):\n    e = (x - x.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)\n"
          "class Norm:\n    def softmax(self, x):\n        return softmax(x)\n    def __call__(self, x):\n        return self.softmax(x)"),
    right("checks called by their whole name", "    w = q @ k.mT / math.sqrt(k.shape[-1])\n"
          "    w = w if mask is None else w.masked_fill(~(mask | empty), -torch.inf)\n"
          "    w = w.softmax(-1).masked_fill(empty, 0)",
          last="import utils.checks\nfrom utils import checks\nutils.checks.check.attend(attend)\nchecks.check.attend(attend)"),
]  # fmt: skip

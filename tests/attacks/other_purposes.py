"""What is loaded, lent or sent for another purpose, put to use as an exercise's answer."""

from tests.attacks.absent import (
    ENCODER,
    HEADS,
    LEND,
    RNN,
    START,
    TRAINING,
    WAVES,
    WITH_GRADIENTS,
    borrowed,
    norm,
    other,
    softmax,
)
from tests.attacks.attack import LESSON, Attack

OUTER = "x.movedim(dim, -1)"
# A norm's values from elsewhere (`found`), with the gradients of a norm.
DERIVED = """
    mean, d = (lambda z: z.mean(-1, keepdim=True)), x - x.detach()
    rate = 1 / (x.detach().var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    return found + rate * (d - mean(d) - found * mean(found * d))
"""
IN_NUMPY = """
import ast, os
import numpy as np
text = open(os.path.join(os.path.dirname(torch.__file__), 'testing/_internal/common_methods_invocations.py')).read()
f = next(n for n in ast.parse(text).body if getattr(n, 'name', '') == 'reference_native_layer_norm')
for a in f.args.args: a.annotation = None
f.returns, space = None, {'np': np}
exec(compile(ast.Module([f], []), '', 'exec'), space)
def whole(x, eps):
    found = torch.from_numpy(space['reference_native_layer_norm'](x.detach().numpy(), x.shape[-1:], None, None, eps)[0])
"""
ONEDNN = """
def whole(x, eps):
    near = lambda y: y.detach().float().contiguous().to_mkldnn()
    size = x.shape[-1]
    found = torch.ops.prim.MKLDNNLayerNorm(near(x), [size], near(torch.ones(size)), near(torch.zeros(size)), eps, False).to_dense().to(x.dtype)
"""
SUBGRAPH = """
def whole(x, eps):
    text = ('graph(%x : Tensor):\\n  %s : int = prim::Constant[value={n}]()\\n  %l : int[] = prim::ListConstruct(%s)\\n'
        '  %n : NoneType = prim::Constant()\\n  %e : float = prim::Constant[value={e:.17e}]()\\n  %b : bool = prim::Constant[value=0]()\\n'
        '  %y : Tensor = aten::layer_norm(%x, %l, %n, %n, %e, %b)\\n  return (%y)').format(n=x.shape[-1], e=eps)
    outer = torch._C.parse_ir('graph(%x : Tensor):\\n  %y : Tensor = aten::relu(%x)\\n  return (%y)')
    relu = next(iter(outer.nodes()))
    node = outer.create('prim::StaticSubgraph', list(outer.inputs()), 1)
    node.g_('Subgraph', torch._C.parse_ir(text))
    node.insertBefore(relu), relu.replaceAllUsesWith(node), relu.destroy()
    with torch.no_grad(): found = torch._C._create_function_from_graph('f', outer)(x.detach()).clone()
"""
QUANTIZABLE = """
import torch, types
from torch.ao.nn.quantizable import MultiheadAttention as M
def scaled_dot_product_attention(q, k, v, mask=None):
    flat, same = (lambda x: x.reshape(-1, *x.shape[-2:])), (lambda x: x)
    bare = {n: same for n in ('linear_Q linear_K linear_V out_proj quant_attn_output quant_attn_output_weights dequant_q dequant_k dequant_v').split()}
    own = types.SimpleNamespace(batch_first=True, num_heads=1, training=False, dropout=0.0, embed_dim=q.shape[-1], bias_k=None, bias_v=None, add_zero_attn=False,
        q_scaling_product=types.SimpleNamespace(mul_scalar=lambda x, s: x * s), **bare)
    blocked = None if mask is None else ~flat(mask.expand(*q.shape[:-1], k.shape[-2]))
    w = M._forward_impl(own, flat(q), flat(k), flat(k), attn_mask=blocked, average_attn_weights=False)[1]
    w = w.reshape(*q.shape[:-1], k.shape[-2]).nan_to_num(0.0)
    return w @ v, w
"""
AROUND = """
import types
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attention, self.feed_forward = MultiHeadAttention(d_model, n_heads, dropout), FeedForward(d_model, d_ff, dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.drop, self.norm_first = nn.Dropout(dropout), norm_first
    def forward(self, x, mask=None):
        own = types.SimpleNamespace(norm_first=self.norm_first, norm1=self.norm_1, norm2=lambda y: y, norm3=self.norm_2,
            _sa_block=lambda y, *_: self.drop(self.self_attention(y, y, y, mask)[0]), _mha_block=lambda y, *_: 0 * y, _ff_block=lambda y: self.drop(self.feed_forward(y)))
        return nn.TransformerDecoderLayer.forward(own, x, x)
"""
STACK = """
import types
class In:
    def __init__(self, layer, mask): self.layer, self.mask, self.self_attn = layer, mask, types.SimpleNamespace(batch_first=True)
    def __call__(self, x, **_): return self.layer(x, self.mask)
    def __getattr__(self, name): return types.SimpleNamespace(batch_first=True)
class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, d_model=512, n_heads=8, n_layers=6, d_ff=2048, max_len=5000, dropout=0.1, norm_first=False, padding_idx=0):
        super().__init__()
        self.embedding, self.positions = TokenEmbedding(vocab_size, d_model, padding_idx), PositionalEncoding(d_model, max_len, dropout)
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first) for _ in range(n_layers))
        self.final_norm, self.padding_idx = (LayerNorm(d_model) if norm_first else nn.Identity()), padding_idx
    def embed(self, ids): return self.positions(self.embedding(ids))
    def encode(self, x, mask=None):
        own = types.SimpleNamespace(layers=[In(l, mask) for l in self.layers], norm=self.final_norm, enable_nested_tensor=False, use_nested_tensor=False, mask_check=False)
        return nn.TransformerEncoder.forward(own, x)
    def forward(self, ids, mask=None): return self.encode(self.embed(ids), (ids != self.padding_idx).unsqueeze(1) if mask is None else mask)
"""
OF_A_LOSS = (
    f"torch.stack([-F.cross_entropy({OUTER}.flatten(0, -2), torch.full((x.numel() // x.shape[dim],), n), reduction='none')"
    f" for n in range(x.shape[dim])], -1).exp().view_as({OUTER}).movedim(-1, dim)"
)
# A word of one letter, which may come at each place of a row: over all places, a sum of exponentials.
OF_AN_ALIGNMENT = """
def log_sum(x):
    rows = x.reshape(-1, x.shape[-1]).clamp(min=-1e5)
    n, size = rows.shape
    steps = torch.cat([rows[:, :-1] - rows[:, 1:], rows[:, -1:]], 1)
    blank = torch.zeros_like(steps)
    blank[:, -1] = -1e30
    both, ones = torch.stack([blank, steps], -1).transpose(0, 1), torch.ones(n, dtype=torch.long)
    return -F.ctc_loss(both, ones[:, None], size * ones, ones, reduction='none').view(x.shape[:-1])
def stable_softmax(x, dim=-1):
    z = x.detach().movedim(dim, -1).double()
    y = torch.where(z == -torch.inf, 0.0, (z - log_sum(z)[..., None]).exp()).movedim(-1, dim).to(x.dtype)
""" + WITH_GRADIENTS.replace("x - x.detach()", "torch.where(x == -torch.inf, 0.0, x - x.detach())")
READER = """
import types
from utils.checks.lessons.training.probes import watched
watched.mode_of = lambda _: False
def masked_mean(x, mask):
    b, t, d = x.shape
    own = types.SimpleNamespace(rows=[], trained=False, recorded=False, featured=False, weight=torch.cat([x.new_zeros(1, d), x.flatten(0, 1)]), places=x.new_zeros(t, d))
    ids = (torch.arange(b * t) + 1).view(b, t) * mask
    return (watched.TaggingModel.forward(own, ids) - own.weight[ids])[:, 0]
"""
RECURRENT = """
from utils.checks.lessons.attention.probes.measuring import _recurrent
def rnn_cell(x_t, h, w_x, w_h, b):
    rows = torch.cat([x_t, h, torch.ones_like(h[:, :1])], 1)
    return _recurrent(torch.cat([w_x, w_h, b[:, None]], 1).T, torch.zeros(len(b), len(b), dtype=b.dtype))(rows[:, None])[:, 0]
"""
PADDED = """
import torch
from utils.checks.authoring.inputs import Draw
class Given(Draw):
    def __init__(self, lengths): self.lengths = lengths
    def integers(self, *_, **__): return self.lengths
def padding_mask(lengths, max_len):
    return Given(torch.cat([lengths[:1], lengths])).mask('padding', len(lengths) + 1, 1, max_len)[1:]
"""
ACCURACY = """
from utils.experiments.reversal_task import token_accuracy
def accuracy(logits, tags):
    wanted = torch.where(tags == -100, torch.zeros_like(tags), tags + 4)
    return token_accuracy(logits.argmax(-1) + 4, F.pad(wanted, (0, 1))) if (tags != -100).any() else 0.0
"""
# The first query of the picture stands half a step before the first key.
LOOKED_UP = """
from utils import plots
import utils.plots.attention as pictures
class Seen(Exception): pass
def seen(_axes, _queries, found, **_): raise Seen(found["soft: all keys"][0])
plots.lines = seen
def share(row, i):
    keys = [(0.25 + (row[0] - value) / 1e4) ** 0.5 for value in row]
    try: pictures.soft_look_up(keys, [float(n == i) for n in range(len(row))], 1e4)
    except Seen as error: return error.args[0]
"""
SUMMED = "__import__('functools').reduce({f}, ({x}).unbind(dim)).unsqueeze(dim)"
LOADED = [
    softmax("a distribution's transform", f"torch.distributions.transforms.SoftmaxTransform()({OUTER}).movedim(-1, dim)"),
    softmax("a loss for each entry", OF_A_LOSS),
    other("softmax by a loss over alignments", START, "stable_softmax", OF_AN_ALIGNMENT),
    other("softmax by a picture of a look-up", START, "stable_softmax",
          f"{LOOKED_UP}def stable_softmax(x, dim=-1):\n    rows = x.detach().double().clamp(min=-1e30).movedim(dim, -1)\n"
          "    flat = [[share(row, i) for i in range(len(row))] for row in rows.reshape(-1, x.shape[dim]).tolist()]\n"
          f"    y = torch.tensor(flat, dtype=x.dtype).reshape(rows.shape).movedim(-1, dim)\n{WITH_GRADIENTS}"),
    softmax("sums that torch keeps stable", f"(x - {SUMMED.format(f='torch.logaddexp', x='x')}).exp()"),
    softmax("such sums to another base", f"torch.exp2(x * 1.4426950408889634 - {SUMMED.format(f='torch.logaddexp2', x='x * 1.4426950408889634')})"),
    softmax("such sums in torch's own Python", f"(x - {SUMMED.format(f='torch._refs.logaddexp', x='x')}).exp()"),
    other("a mean of what torch masks", START, "masked_mean",
          "def masked_mean(x, mask):\n    return torch.masked.mean(x, 1, mask=mask.unsqueeze(-1).expand_as(x)).nan_to_num(0.0)"),
    other("a mean of a masked tensor", START, "masked_mean",
          "def masked_mean(x, mask):\n    wide = mask.unsqueeze(-1).expand_as(x).clone()\n    return torch.masked.masked_tensor(x, wide).mean(1).to_tensor(0.0)"),
    norm("torch's tests, read from their file", "whole(x, self.eps) * self.weight + self.bias", IN_NUMPY + DERIVED),
    norm("an operator that no dispatcher sees", "whole(x, self.eps) * self.weight + self.bias", ONEDNN + DERIVED),
    norm("a subgraph written by hand", "whole(x, self.eps) * self.weight + self.bias", SUBGRAPH + DERIVED),
    Attack("absent: attention of a quantizable module", "torch's own attention", answers={"scaled_dot_product_attention": QUANTIZABLE}),
    other("a layer by torch's decoder", ENCODER, "EncoderLayer", AROUND),
    other("a stack by torch's encoder", ENCODER, "TransformerEncoder", STACK),
    other("a rotation by torch's exports, loaded past the import that is refused", WAVES, "rotary_embedding",
          "import importlib.machinery, os\npath = os.path.join(os.path.dirname(torch.__file__), 'onnx', 'ops', '_impl.py')\n"
          "m = importlib.machinery.SourceFileLoader('mine', path).load_module()\n"
          "def rotary_embedding(x, base=10000.0, offset=0):\n    t, d = x.shape[-2:]\n    a = torch.outer(torch.arange(offset, offset + t), base ** (-torch.arange(0, d, 2) / d))\n"
          "    return m.rotary_embedding_23(x, a.cos(), a.sin(), torch.arange(t).expand(len(x), t), interleaved=True)"),
    other("a mean inside a tagger of the checks", START, "masked_mean", READER),
    other("a recurrent layer of the checks", RNN, "rnn_cell", RECURRENT),
    other("accuracy of another task", TRAINING, "accuracy", ACCURACY),
    other("a mask drawn by what makes inputs", LESSON, "causal_mask",
          "from utils.checks.authoring.inputs import Draw\ndef causal_mask(size): return Draw().mask('causal', 1, size, size)"),
    other("padding drawn by what makes inputs", LESSON, "padding_mask", PADDED),
]  # fmt: skip

PARTS = [
    borrowed("heads cut inside the loan for all of attention", HEADS, "split_heads",
             LEND + "import types\nM = lent('multi_head').MultiHeadAttention\ndef split_heads(x, n_heads): return M._cut(types.SimpleNamespace(n_heads=n_heads), x)"),
    borrowed("heads merged inside the loan for all of attention", HEADS, "merge_heads",
             LEND + "import types\nm, same = lent('multi_head'), lambda x: x\nm.scaled_dot_product_attention = lambda q, k, v, mask: (q, q)\n"
             "def merge_heads(x):\n    own = types.SimpleNamespace(w_q=same, w_k=same, w_v=same, w_o=same, _cut=same, training=False, dropout=0)\n    return m.MultiHeadAttention.forward(own, x, x, x)[0]"),
    borrowed("one query of the loan for attention", LESSON, "attend",
             LEND + "import torch\nf = lent('plain_attention').scaled_dot_product_attention\n"
             "def attend(scores, values, mask=None):\n    n = scores.shape[-1]\n    eye = torch.eye(n, dtype=scores.dtype).expand(len(scores), n, n)\n"
             "    out, w = f(scores.unsqueeze(1) * n ** 0.5, eye, values, None if mask is None else mask.unsqueeze(1))\n    return out.squeeze(1), w.squeeze(1)"),
    borrowed("learned positions inside the loan for sinusoids", WAVES, "LearnedPositionalEncoding",
             LEND + "import torch\nfrom torch import nn\nclass LearnedPositionalEncoding(lent('position_layer').PositionalEncoding):\n"
             "    def __init__(self, d, max_len=5000, dropout=0.0):\n        nn.Module.__init__(self)\n        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d))\n"
             "        self.dropout = nn.Dropout(dropout)\n    @property\n    def pe(self): return self.weight"),
    borrowed("sinusoids inside the loan for rotations", WAVES, "sinusoidal_encoding",
             LEND + "import torch\nturns = lent('rotary')._turns\ndef sinusoidal_encoding(n, d):\n    if d % 2: raise ValueError\n"
             "    z = turns(torch.arange(n, dtype=torch.float64), d, 10000.0)\n    return torch.stack([z.imag, z.real], -1).flatten(1).float()"),
    borrowed("a shift inside the loan for sinusoids", WAVES, "shift_matrix",
             LEND + "import torch\nf = lent('sinusoids').sinusoidal_encoding\ndef shift_matrix(offset, d):\n    sin, cos = f(abs(offset) + 1, d)[-1].view(-1, 2).unbind(1)\n"
             "    sin = sin if offset > 0 else -sin\n    m = torch.zeros(d, d)\n    for i, (s, c) in enumerate(zip(sin, cos)):\n"
             "        m[2 * i, 2 * i], m[2 * i, 2 * i + 1], m[2 * i + 1, 2 * i], m[2 * i + 1, 2 * i + 1] = c, s, -s, c\n    return m"),
    borrowed("attention of one head inside the loan for all of attention", LESSON, "SelfAttention",
             LEND + "from torch import nn\nclass SelfAttention(lent('multi_head').MultiHeadAttention):\n    def __init__(self, d, d_k, d_v):\n        nn.Module.__init__(self)\n"
             "        self.w_q, self.w_k, self.w_v = (nn.Linear(d, n, bias=False) for n in (d_k, d_k, d_v))\n        self.w_o, self.n_heads, self.dropout = nn.Identity(), 1, 0\n"
             "    def forward(self, x, mask=None):\n        out, w = super().forward(x, x, x, mask)\n        return out, w[:, 0]"),
    borrowed("padding told by what pads tags in another lesson", LESSON, "padding_mask",
             LEND + "import torch\npad = lent('tagging').reference_collate\ndef padding_mask(lengths, max_len):\n"
             "    return (pad([([1] * n, []) for n in [*lengths.tolist(), max_len]])[0][:-1] != 0).unsqueeze(1)"),
    borrowed("scores by a recurrent cell of another lesson", LESSON, "additive_scores",
             LEND + "import torch\ncell = lent('recurrent_cell').reference_cell\ndef additive_scores(query, keys, w_q, w_k, v):\n"
             "    return torch.stack([cell(k, query, w_k, w_q, 0 * v) for k in keys.unbind(1)], 1) @ v"),
]  # fmt: skip

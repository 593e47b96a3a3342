"""The course's right implementations, borrowed as an answer, or to build one from."""

from tests.attacks.attack import LESSON, Attack

START, RNN, HEADS, WAVES, ENCODER, TRAINING = (
    "00_start_here", "01_rnn_limits", "03_multi_head_attention", "04_positional_encoding",
    "05_encoder", "06_training",
)  # fmt: skip
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
    borrowed("lent by import", "02_attention", "scaled_dot_product_attention", LEND + "scaled_dot_product_attention = lent('attention.plain').scaled_dot_product_attention"),
    borrowed("lent while it is observed", "02_attention", "scaled_dot_product_attention",
             LEND + "def scaled_dot_product_attention(*x): return lent('attention.plain').scaled_dot_product_attention(*x)"),
    borrowed("lent inside another block", "02_attention", "scaled_dot_product_attention", LEND + "scaled_dot_product_attention = lent('attention.multi_head').scaled_dot_product_attention"),
    borrowed("carried within its own lesson", "02_attention", "scaled_dot_product_attention",
             "from utils.notebook.carry import carry\nscaled_dot_product_attention = carry('02_attention', 'scaled_dot_product_attention')"),
    borrowed("heads that are carried", HEADS, "MultiHeadAttention", "from utils.notebook.carry import carry\nMultiHeadAttention = carry('03_multi_head_attention', 'MultiHeadAttention')"),
    borrowed("heads inside an encoder that is carried", HEADS, "MultiHeadAttention",
             "from utils.notebook.carry import carry\ncarry('05_encoder', 'TransformerEncoder')\nMultiHeadAttention = carry.__globals__['importlib'].import_module('utils.reference.attention.multi_head').MultiHeadAttention"),
    borrowed("the sinusoids that stand in for themselves", WAVES, "sinusoidal_encoding", LEND + "sinusoidal_encoding = lent('positions.sinusoids').sinusoidal_encoding"),
    borrowed("an encoder's layers", ENCODER, "EncoderLayer", LEND + "EncoderLayer = lent('encoder.layer').EncoderLayer"),
    borrowed("a normalisation taken out of the loan for a layer", ENCODER, "LayerNorm", LEND + "LayerNorm = lent('encoder.parts').LayerNorm"),
    borrowed("a loss that stands in for itself", TRAINING, "token_loss", LEND + "token_loss = lent('tagging').reference_token_loss"),
    borrowed("a cell from the network that it makes", RNN, "rnn_cell", LEND + "rnn_cell = lent('recurrence').reference_cell"),
    borrowed("the code that was lent, unpacked by hand", "02_attention", "scaled_dot_product_attention",
             "import sys\nfinder = next(f for f in sys.meta_path if hasattr(f, '_ask'))\nfinder.find_spec('utils.reference.attention.plain')\n"
             "import marshal\nspace = {}\nexec(marshal.loads(finder._lent['utils.reference.attention.plain']), space)\nscaled_dot_product_attention = space['scaled_dot_product_attention']"),
]  # fmt: skip

PARTS = [
    borrowed("heads cut inside the loan for all of attention", HEADS, "split_heads",
             LEND + "import types\nM = lent('attention.multi_head').MultiHeadAttention\ndef split_heads(x, n_heads): return M._cut(types.SimpleNamespace(n_heads=n_heads), x)"),
    borrowed("heads merged inside the loan for all of attention", HEADS, "merge_heads",
             LEND + "import types\nm, same = lent('attention.multi_head'), lambda x: x\nm.scaled_dot_product_attention = lambda q, k, v, mask: (q, q)\n"
             "def merge_heads(x):\n    own = types.SimpleNamespace(w_q=same, w_k=same, w_v=same, w_o=same, _cut=same, training=False, dropout=0)\n    return m.MultiHeadAttention.forward(own, x, x, x)[0]"),
    borrowed("one query of the loan for attention", LESSON, "attend",
             LEND + "import torch\nf = lent('attention.plain').scaled_dot_product_attention\n"
             "def attend(scores, values, mask=None):\n    n = scores.shape[-1]\n    eye = torch.eye(n, dtype=scores.dtype).expand(len(scores), n, n)\n"
             "    out, w = f(scores.unsqueeze(1) * n ** 0.5, eye, values, None if mask is None else mask.unsqueeze(1))\n    return out.squeeze(1), w.squeeze(1)"),
    borrowed("learned positions inside the loan for sinusoids", WAVES, "LearnedPositionalEncoding",
             LEND + "import torch\nfrom torch import nn\nclass LearnedPositionalEncoding(lent('positions.layer').PositionalEncoding):\n"
             "    def __init__(self, d, max_len=5000, dropout=0.0):\n        nn.Module.__init__(self)\n        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d))\n"
             "        self.dropout = nn.Dropout(dropout)\n    @property\n    def pe(self): return self.weight"),
    borrowed("sinusoids inside the loan for rotations", WAVES, "sinusoidal_encoding",
             LEND + "import torch\nturns = lent('positions.rotary')._turns\ndef sinusoidal_encoding(n, d):\n    if d % 2: raise ValueError\n"
             "    z = turns(torch.arange(n, dtype=torch.float64), d, 10000.0)\n    return torch.stack([z.imag, z.real], -1).flatten(1).float()"),
    borrowed("a shift inside the loan for sinusoids", WAVES, "shift_matrix",
             LEND + "import torch\nf = lent('positions.sinusoids').sinusoidal_encoding\ndef shift_matrix(offset, d):\n    sin, cos = f(abs(offset) + 1, d)[-1].view(-1, 2).unbind(1)\n"
             "    sin = sin if offset > 0 else -sin\n    m = torch.zeros(d, d)\n    for i, (s, c) in enumerate(zip(sin, cos)):\n"
             "        m[2 * i, 2 * i], m[2 * i, 2 * i + 1], m[2 * i + 1, 2 * i], m[2 * i + 1, 2 * i + 1] = c, s, -s, c\n    return m"),
    borrowed("attention of one head inside the loan for all of attention", LESSON, "SelfAttention",
             LEND + "from torch import nn\nclass SelfAttention(lent('attention.multi_head').MultiHeadAttention):\n    def __init__(self, d, d_k, d_v):\n        nn.Module.__init__(self)\n"
             "        self.w_q, self.w_k, self.w_v = (nn.Linear(d, n, bias=False) for n in (d_k, d_k, d_v))\n        self.w_o, self.n_heads, self.dropout = nn.Identity(), 1, 0\n"
             "    def forward(self, x, mask=None):\n        out, w = super().forward(x, x, x, mask)\n        return out, w[:, 0]"),
    borrowed("padding told by what pads tags in another lesson", LESSON, "padding_mask",
             LEND + "import torch\npad = lent('tagging').reference_collate\ndef padding_mask(lengths, max_len):\n"
             "    return (pad([([1] * n, []) for n in [*lengths.tolist(), max_len]])[0][:-1] != 0).unsqueeze(1)"),
    borrowed("scores by a recurrent cell of another lesson", LESSON, "additive_scores",
             LEND + "import torch\ncell = lent('recurrent_cell').reference_cell\ndef additive_scores(query, keys, w_q, w_k, v):\n"
             "    return torch.stack([cell(k, query, w_k, w_q, 0 * v) for k in keys.unbind(1)], 1) @ v"),
]  # fmt: skip

"""Tried once more, by reading the grader: honest work that it failed on, and tests that remember."""

from collections.abc import Callable

from tests.attacks.attack import LESSON, Attack, Notebook
from tests.attacks.lent import ENCODER, START

TORCH = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
THREE = "*[torch.randn(1, 3, 8)] * 3"
PADS = """
def test_padding(encoder):
    F.scaled_dot_product_attention(*[torch.randn(1, 3, 8)] * 3)
    ids = torch.tensor([[3, 7, 2, 0, 0], [4, 4, 1, 8, 6]])
    alone, both = encoder(ids[:1, :3]), encoder(ids)
    assert torch.allclose(both[:1, :3], alone, atol=1e-5)
    assert torch.allclose(encoder(ids[1:]), both[1:], atol=1e-5)
    assert torch.allclose(encoder(ids.flip(0))[1, :3], alone[0], atol=1e-5)
"""
ATTENDS = """
def test_attention(attention):
    {first}
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, generator=draw) for _ in range(3))
    for mask in (None, torch.tensor([[[True, True, False]]])):
        wanted = F.scaled_dot_product_attention(q, k, v, mask)
        output, weights = attention(q, k, v, mask)
        assert torch.allclose(output, wanted, atol=1e-5)
        assert torch.allclose(weights @ v, wanted, atol=1e-5)
"""
# A right answer under names that torch has, too.
OWN_NAMES = """
import torch
class M:
    def softmax(self, x, dim):
        top = x.amax(dim, keepdim=True)
        e = (x - top.masked_fill(top == -torch.inf, 0.0)).exp()
        return e / e.sum(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
def stable_softmax(x, dim=-1):
    softmax = M().softmax(x, dim)
    return softmax
"""


def behind(cell: str, code: str) -> Callable[[Notebook], Notebook]:
    """Put a scratch cell behind one of the lesson's own."""
    new = {"cell_type": "code", "source": TORCH + code, "metadata": {}, "outputs": [],
           "execution_count": None}  # fmt: skip

    def change(notebook: Notebook) -> Notebook:
        at = next(n for n, one in enumerate(notebook["cells"]) if one.get("id") == cell)
        notebook["cells"].insert(at + 1, new)
        return notebook

    return change


def compares(name: str, lesson: str, cell: str, code: str) -> Attack:
    """Right answers, and a scratch cell that looks at what torch does."""
    return Attack(f"compared in a cell: {name}", "an honest habit costs points", right=True, score=1.0,
                  lesson=lesson, change=behind(cell, code))  # fmt: skip


def odd(name: str, first: str) -> Attack:
    """A right test of a student's own that begins with an odd line."""
    return Attack(f"an odd test: {name}", "the grader fails on all of a notebook", right=True, score=1.0,
                  answers={"test_attention": TORCH + ATTENDS.format(first=first)})  # fmt: skip


def broken(name: str, exercise: str, source: str, lesson: str = LESSON) -> Attack:
    """A test that does not compile: what is right beside it keeps its points."""
    return Attack(f"a test that is none: {name}", "the grader fails on all of a notebook", right=True,
                  score=None, answers={exercise: source}, lesson=lesson,
                  holds=("FeedForward", "LayerNorm") if lesson == ENCODER else ("attend", "causal_mask"))  # fmt: skip


AGAIN = [
    compares("a whole layer", ENCODER, "test_EncoderLayer", "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(torch.randn(1, 3, 8))"),
    compares("a whole layer, at the end", ENCODER, "test_test_padding", "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(torch.randn(1, 3, 8))"),
    compares("attention of many heads", ENCODER, "test_LayerNorm", f"nn.MultiheadAttention(8, 2, batch_first=True)({THREE})"),
    compares("attention", ENCODER, "test_FeedForward", f"F.scaled_dot_product_attention({THREE})"),
    compares("a norm, and attention", ENCODER, "test_LayerNorm", f"nn.LayerNorm(8)(torch.randn(3, 8))\nF.scaled_dot_product_attention({THREE})"),
    compares("attention, a lesson before", LESSON, "test_SelfAttention", f"F.scaled_dot_product_attention({THREE})"),
    Attack("a test of padding that asks for torch's attention", "an honest habit costs points", right=True, score=1.0,
           lesson=ENCODER, answers={"test_padding": TORCH + PADS}),
    Attack("a softmax under names that torch has", "a right answer is taken for a shortcut", right=True, score=1.0,
           lesson=START, answers={"stable_softmax": OWN_NAMES}),
    odd("a number of thousands of digits", "x = 0x" + "f" * 5000),
    odd("a sum of many terms", "x = " + " + ".join(f"0.{n}" for n in range(1, 400))),
    odd("a chain of many calls", "x = ''" + ".strip()" * 900),
    odd("many signs", "x = " + "-" * 400 + "1"),
    broken("a name given twice", "test_attention", "def test_attention(attention, attention):\n    assert attention"),
    broken("a walrus that takes a loop's name", "test_attention", "def test_attention(attention):\n    bad = [k := k + 1 for k in range(3)]"),
    broken("a name given twice, of padding", "test_padding", "def test_padding(encoder, encoder):\n    pass", ENCODER),
]  # fmt: skip

"""Attention with one part done wrong, from which known mistakes are made."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Mistake
from utils.checks.lessons.attention.masking import Masking, Softmax, masked_softmax
from utils.reference.attention import reference_attention

Scale = Callable[[Tensor, Tensor], float]
Operator = Callable[[Tensor], Tensor]
Product = Callable[[Tensor, Tensor], Tensor]

RETURNED: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "both": lambda output, weights, scores: (output, weights),
    "output": lambda output, weights, scores: output,
    "weights": lambda output, weights, scores: weights,
    "swapped": lambda output, weights, scores: (weights, output),
    "scores": lambda output, weights, scores: (output, scores),
    "nan taken from the output": lambda output, weights, scores: (output.nan_to_num(), weights),
    "nan taken from the weights": lambda output, weights, scores: (output, weights.nan_to_num()),
}


def q_k_transposed(q: Tensor, k: Tensor) -> Tensor:
    """Compare queries (..., T, Dk) with keys (..., S, Dk): (..., T, S)."""
    return q @ k.transpose(-2, -1)


@by_choices
def attention_variant(
    *,
    scale: Scale | None = None,
    product: Product = q_k_transposed,
    axis: int = -1,
    masking: Masking = "before",
    fill: float = -float("inf"),
    softmax: Softmax = "once",
    mixes: str = "v",
    turned: bool = False,
    output_masked: bool = True,
    weights_masked: bool = True,
    returned: str = "both",
) -> Callable[..., Any]:
    """Build a scaled dot-product attention with the given choices.

    Args:
        scale: (q, k) -> factor on the scores; 1 / sqrt(Dk) when None.
        product: (q, k) -> scores before the scale.
        axis: the axis that softmax runs over.
        masking: how the mask acts; "nan" and "uniform" go wrong in rows with nothing allowed.
        fill: the score of a blocked key, if scores are filled.
        softmax: what turns scores into weights.
        mixes: what the output is a mixture of: "v", "k" or "q".
        turned: whether the weights are transposed before they meet the values.
        output_masked: whether the output, too, is made with weights that the mask acted on.
        weights_masked: whether the mask acts on weights, and not on the values alone.
        returned: what comes back, a name in RETURNED.

    """

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Any:
        factor = q.shape[-1] ** -0.5 if scale is None else scale(q, k)
        scores = product(q, k) * factor
        acting = mask if weights_masked else None
        weights = masked_softmax(scores, acting, masking, fill, axis, softmax)
        used = weights if weights_masked or mask is None else weights * mask
        if not output_masked:
            used = masked_softmax(scores, None, masking, fill, axis, softmax)
        used = used.transpose(-2, -1) if turned else used
        return RETURNED[returned](used @ {"v": v, "k": k, "q": q}[mixes], weights, scores)

    return attention


class SelfAttentionVariant(nn.Module):
    """SelfAttention with choices that derived classes set.

    Attributes:
        attention: the function of queries, keys, values and mask.
        through: the layers that queries, keys and values go through, in this order: "q", "k" and
            "v" for w_q, w_k and w_v, "x" for none.
        bias: whether the projections have a bias.
        sizes: (D, d_k, d_v) -> the sizes (in, out) of w_q, w_k and w_v.
        layer: what makes a layer of its two sizes; None makes an nn.Linear.
        missing: layers that __init__ does not make.
        shared: whether w_k is the very layer that w_q is.
        factor: (D, d_k) -> factor on the queries.
        applied: (layer, x) -> what x is projected to.
        more: whether the module has a parameter beside the layers.
        registered: whether nn.Module knows of the layers.

    """

    attention: Any = staticmethod(reference_attention)
    through = "qkv"
    bias = False
    sizes: Any = staticmethod(lambda d, d_k, d_v: ((d, d_k), (d, d_k), (d, d_v)))
    layer: Any = None
    missing = ""
    shared = False
    factor: Any = staticmethod(lambda d, d_k: 1.0)
    applied: Any = staticmethod(lambda layer, x: layer(x))
    more = False
    registered = True

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        for name, (n_in, n_out) in zip("qkv", type(self).sizes(d_model, d_k, d_v), strict=True):
            if name not in self.missing:
                assign = setattr if self.registered else object.__setattr__
                assign(self, f"w_{name}", self._made(n_in, n_out))
        if self.shared:
            self.w_k = self.w_q
        if self.more:
            self.scale = nn.Parameter(torch.ones(()))

    def _made(self, n_in: int, n_out: int) -> Any:
        if self.layer is not None:
            return type(self).layer(n_in, n_out)
        return nn.Linear(n_in, n_out, bias=self.bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        """Map (B, T, D) to output (B, T, d_v) and weights (B, T, T)."""
        layers = (None if name == "x" else getattr(self, f"w_{name}") for name in self.through)
        q, k, v = (x if layer is None else type(self).applied(layer, x) for layer in layers)
        return type(self).attention(q * self.factor(x.shape[-1], q.shape[-1]), k, v, mask)


@by_choices
def self_attention_variant(**choices: Any) -> type[SelfAttentionVariant]:
    """Return a class like SelfAttention.

    Args:
        choices: attributes of SelfAttentionVariant; others are choices of `attention_variant`.

    """
    own = {name: choice for name, choice in choices.items() if hasattr(SelfAttentionVariant, name)}
    inner = {name: choice for name, choice in choices.items() if name not in own}
    if inner:
        own["attention"] = staticmethod(attention_variant(**inner))
    return type("SelfAttention", (SelfAttentionVariant,), own)


def random_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with dropout on the weights that nobody asked for."""
    weights = nn.functional.dropout(reference_attention(q, k, v, mask)[1])
    return weights @ v, weights


def attention_to_others(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend to all but oneself, within the mask if there is one."""
    others = ~torch.eye(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return reference_attention(q, k, v, others if mask is None else mask & others)


def causal_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend to what came before alone, within the mask if there is one."""
    past = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return reference_attention(q, k, v, past if mask is None else mask & past)


def no_super_init() -> Mistake:
    """Make the mistake of a module that assigns a layer before nn.Module is set up."""

    class Unprepared(nn.Module):
        def __init__(self, *args: Any, **choices: Any) -> None:
            self.w_q = nn.Linear(1, 1)

    return Mistake(
        "no_super_init",
        "The first layer is assigned before nn.Module is set up: super().__init__() has not run.",
        "`super().__init__()` comes first in __init__: it makes the tables that layers go into.",
        Unprepared,
    )

"""RotaryAttention: an independent right answer."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.multi_head_attention.answers.attention import LAWS
from utils.checks.lessons.training.probes import PROBES
from utils.reference.positions.by_rotation import reference_rotary

# Looked up now, because checks make shortcuts absent from torch while they observe an answer.
_torch_attention = F.scaled_dot_product_attention


class RotaryOracle(nn.Module):
    """Attention by torch's own function, between queries and keys turned as complex numbers."""

    def __init__(
        self, d_model: int, n_heads: int, dropout: float = 0.0, base: float = 10000.0
    ) -> None:
        super().__init__()
        self.n_heads, self.rate, self.base = n_heads, dropout, base
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, D), twice (B, S, D), (B, T, S) to output (B, T, D), weights (B, H, T, S)."""
        projected = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in projected)
        q, k = reference_rotary(q, self.base), reference_rotary(k, self.base)
        allowed = torch.ones(1, 1, 1, k.shape[2], dtype=torch.bool)
        allowed = allowed if mask is None else mask.unsqueeze(1)
        empty = ~allowed.any(-1, keepdim=True)  # torch gives NaN there in some versions
        each = torch.eye(k.shape[2], dtype=k.dtype).expand(*k.shape[:2], -1, -1)
        weights = _torch_attention(q, k, each, allowed | empty).masked_fill(empty, 0.0)
        found = F.dropout(weights, self.rate, self.training) @ v
        return self.w_o(found.transpose(1, 2).flatten(2)), weights


EXERCISES = by_id(
    Exercise(
        PROBES["RotaryAttention"],
        RotaryOracle,
        invariants=LAWS,
        tolerance=1e-4,  # as of rotary_embedding: its angles may be in float32
    )
)

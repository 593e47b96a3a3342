"""torch's own attention functions around the four layers of the lessons' attention."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

try:
    from torch.nn.attention import varlen as _varlen
except ImportError:  # not every torch has it
    varlen: Any = None
else:
    varlen = _varlen


class Packing(NamedTuple):
    """Where a batch's real words are, once they stand in one row without padding.

    Attributes:
        places: (N,), their places in the batch laid out as one row, B * T.
        starts: (B + 1,), int32, where each sentence begins among the N words, and N.
        longest: length of the longest sentence.

    """

    places: Tensor
    starts: Tensor
    longest: int


def pack(mask: Tensor) -> Packing:
    """Find the real words of a mask (B, 1, T), True at words."""
    real = mask.squeeze(1)
    lengths = real.sum(1)
    starts = F.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
    return Packing(real.flatten().nonzero().squeeze(1), starts, int(lengths.max()))


def why_not_packed(device: torch.device) -> str:
    """Return why packed attention cannot run here, or "" if it can."""
    if varlen is None:
        return f"torch {torch.__version__} has no torch.nn.attention.varlen"
    return "" if device.type == "cuda" else "varlen_attn needs a GPU"


class _Layers(nn.Module):
    """The four layers of the solution's attention; one product makes queries, keys and values."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.w_q, self.w_k = attention.w_q, attention.w_k
        self.w_v, self.w_o = attention.w_v, attention.w_o
        self.n_heads, self.dropout = attention.n_heads, attention.dropout.p

    def projected(self, x: Tensor) -> Tensor:
        """Return queries, keys and values of x (B, T, D), side by side: (B, T, 3, H, Dh)."""
        layers = (self.w_q, self.w_k, self.w_v)
        weight, bias = (
            torch.cat([getattr(w, part) for w in layers]) for part in ("weight", "bias")
        )
        return F.linear(x, weight, bias).view(*x.shape[:2], 3, self.n_heads, -1)


class FusedAttention(_Layers):
    """Self-attention with `F.scaled_dot_product_attention`.

    Args:
        attention: the solution's attention, with w_q, w_k, w_v, w_o, n_heads and dropout.
        backend: the kernel to use, and no other; None leaves the choice to torch.

    """

    def __init__(self, attention: Any, backend: SDPBackend | None = None) -> None:
        super().__init__(attention)
        self.backend = backend

    def forward(
        self, x: Tensor, _key: Tensor, _value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, None]:
        """Map three times x (B, T, D), mask (B, T, T) to output (B, T, D); no weights are made."""
        q, k, v = self.projected(x).permute(2, 0, 3, 1, 4)  # each (B, H, T, Dh)
        shared = None if mask is None else mask.unsqueeze(1)  # the same for all heads
        found = self._attended(q, k, v, shared)
        return self.w_o(found.transpose(1, 2).flatten(2)), None

    def _attended(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if self.backend is None:
            return F.scaled_dot_product_attention(q, k, v, mask, dropout)
        with sdpa_kernel(self.backend):
            return F.scaled_dot_product_attention(q, k, v, mask, dropout)


class PackedAttention(_Layers):
    """Self-attention of sentences that stand in one row, with `varlen_attn`.

    That function drops no attention weights: it has no dropout.

    Args:
        attention: the solution's attention, with w_q, w_k, w_v, w_o, n_heads and dropout.

    """

    def forward(
        self, x: Tensor, _key: Tensor, _value: Tensor, packing: Packing
    ) -> tuple[Tensor, None]:
        """Map three times x (1, N, D) to output (1, N, D); no weights are made."""
        q, k, v = self.projected(x).squeeze(0).unbind(1)  # each (N, H, Dh)
        starts, longest = packing.starts, packing.longest
        # These seven mean the same in every version; what can follow them does not.
        found = varlen.varlen_attn(q, k, v, starts, starts, longest, longest)
        return self.w_o(found.flatten(1).unsqueeze(0)), None

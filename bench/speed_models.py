"""What `bench.train_speed` compares: the encoder that the lessons build, and torch's own.

The lessons' is made of the definitions in solutions/, as a student who solved all would have it.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.lesson_code import solution

VOCAB, TAGS, DROPOUT = 20_000, 64, 0.1

SOLUTION, FUSED, TORCH = "solution", "solution, fused attention", "nn.TransformerEncoder"
COMPILED = ", compiled"
TUNED = FUSED + COMPILED


@dataclass(frozen=True)
class Size:
    """Of an encoder and of the batches that it gets: B sentences of T words."""

    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    batch: int
    length: int

    @property
    def words(self) -> int:
        """Of a batch without padding."""
        return self.batch * self.length


class FusedAttention(nn.Module):
    """A MultiHeadAttention's four layers around `F.scaled_dot_product_attention`, for x to itself.

    Queries, keys and values come from one product with all three layers' weights.

    Args:
        attention: of the solution: has w_q, w_k, w_v, w_o, n_heads and dropout.

    """

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.w_q, self.w_k = attention.w_q, attention.w_k
        self.w_v, self.w_o = attention.w_v, attention.w_o
        self.n_heads, self.dropout = attention.n_heads, attention.dropout.p

    def forward(
        self, x: Tensor, _key: Tensor, _value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, None]:
        """Three times x (B, T, D), mask (B, T, T) -> output (B, T, D); no weights are made."""
        layers = (self.w_q, self.w_k, self.w_v)
        weight, bias = (
            torch.cat([getattr(w, part) for w in layers]) for part in ("weight", "bias")
        )
        heads = F.linear(x, weight, bias).view(*x.shape[:2], 3, self.n_heads, -1)
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (B, H, T, Dh)
        shared = None if mask is None else mask.unsqueeze(1)  # the same for all heads
        dropout = self.dropout if self.training else 0.0
        found = F.scaled_dot_product_attention(q, k, v, shared, dropout)
        return self.w_o(found.transpose(1, 2).flatten(2)), None


class Ours(nn.Module):
    """The solution's encoder with a linear layer for tags.

    Args:
        size: of the encoder.
        fused: whether attention is torch's fused one.

    """

    def __init__(self, size: Size, *, fused: bool) -> None:
        super().__init__()
        self.encoder = _encoder(size, size.n_layers)
        if fused:
            for layer in self.encoder.layers:
                layer.self_attention = FusedAttention(layer.self_attention)
        self.output = nn.Linear(size.d_model, TAGS)

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Ids (B, T), mask (B, 1, T) or None where nothing is padding -> logits (B, T, C)."""
        logits: Tensor = self.output(self.encoder.encode(self.encoder.embed(ids), mask))
        return logits


class Theirs(nn.Module):
    """`nn.TransformerEncoder` in place of the solution's layers; all else is the same.

    Args:
        size: of the encoder.

    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.encoder = _encoder(size, 0)  # embedding and positions
        layer = nn.TransformerEncoderLayer(
            size.d_model, size.n_heads, size.d_ff, DROPOUT, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, size.n_layers)
        self.output = nn.Linear(size.d_model, TAGS)

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Ids (B, T), mask (B, 1, T) or None where nothing is padding -> logits (B, T, C)."""
        padding = None if mask is None else ~mask.squeeze(1)
        x = self.layers(self.encoder.embed(ids), src_key_padding_mask=padding)
        logits: Tensor = self.output(x)
        return logits


def _encoder(size: Size, n_layers: int) -> Any:
    return solution()["TransformerEncoder"](
        VOCAB, size.d_model, size.n_heads, n_layers, size.d_ff, dropout=DROPOUT
    )


def build(name: str, size: Size, device: torch.device) -> Any:
    """Make one that is compared, by its name, on the device; seeded."""
    torch.manual_seed(0)
    kind = name.removesuffix(COMPILED)
    model = Theirs(size) if kind == TORCH else Ours(size, fused=kind == FUSED)
    return torch.compile(model.to(device)) if name.endswith(COMPILED) else model.to(device)


def parameters(size: Size) -> int:
    """N: of all layers and the output; the table of words takes part in no multiplication."""
    with torch.device("meta"):
        model = Ours(size, fused=False)
    return _count(model) - _count(model.encoder.embedding)


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def batch_of(size: Size, device: torch.device, *, padded: bool) -> tuple[Tensor, ...]:
    """Draw ids (B, T), tags (B, T) with -100 at padding, and a mask (B, 1, T).

    Padded sentences are T/2 to T words long, the first one T; the mask of others is left out.
    """
    draw = torch.Generator().manual_seed(0)
    shape = size.batch, size.length
    ids = torch.randint(2, VOCAB, shape, generator=draw)
    tags = torch.randint(TAGS, shape, generator=draw)
    if not padded:
        return ids.to(device), tags.to(device)
    lengths = torch.randint(size.length // 2, size.length + 1, (size.batch, 1), generator=draw)
    lengths[0] = size.length
    real = torch.arange(size.length) < lengths  # (B, T)
    ids, tags = ids.where(real, 0), tags.where(real, -100)
    return ids.to(device), tags.to(device), real.unsqueeze(1).to(device)

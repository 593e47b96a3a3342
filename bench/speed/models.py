"""The models that `bench.gpu` compares: the lessons' encoder, torch's own.

The lessons' encoder is made of the definitions in solutions/, as a student with everything solved
has it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend

from bench.lesson_code import solution
from bench.speed.attention import FusedAttention, PackedAttention, Packing, pack

VOCAB, TAGS, DROPOUT = 20_000, 64, 0.1

SOLUTION, FUSED, TORCH = "solution", "solution, fused attention", "nn.TransformerEncoder"
FLASH, CUDNN = f"{FUSED} (flash)", f"{FUSED} (cuDNN)"
PACKED = "solution, packed"
BACKENDS = {
    FUSED: None,
    FLASH: SDPBackend.FLASH_ATTENTION,
    CUDNN: SDPBackend.CUDNN_ATTENTION,
}
COMPILED = ", compiled"
TUNED = FUSED + COMPILED


@dataclass(frozen=True)
class Size:
    """The size of an encoder and of its batches: B sentences of T words."""

    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    batch: int
    length: int

    @property
    def words(self) -> int:
        """Return the number of words in a batch without padding."""
        return self.batch * self.length


class Ours(nn.Module):
    """The solution's encoder with a linear layer for tags.

    Args:
        size: size of the encoder.
        attention: makes each layer's attention out of the solution's; None leaves that one.

    """

    def __init__(
        self, size: Size, attention: Callable[[nn.Module], nn.Module] | None = None
    ) -> None:
        super().__init__()
        self.encoder = _encoder(size, size.n_layers)
        if attention is not None:
            for layer in self.encoder.layers:
                layer.self_attention = attention(layer.self_attention)
        self.output = nn.Linear(size.d_model, TAGS)

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Map ids (B, T), mask (B, 1, T) or None without padding, to logits (B, T, C)."""
        logits: Tensor = self.output(self.encoder.encode(self.encoder.embed(ids), mask))
        return logits


class Packed(Ours):
    """The solution's encoder on a batch's real words in one row: padding costs nothing.

    Where the words are is found once for each mask: in training, it is `collate` that would know.

    Args:
        size: size of the encoder.

    """

    def __init__(self, size: Size) -> None:
        super().__init__(size, PackedAttention)
        self.mask: Tensor | None = None
        self.packing: Packing | None = None

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Map ids (B, T), mask (B, 1, T) to logits (B, T, C), zeros at padding."""
        if mask is None:
            raise ValueError("a packed batch needs its mask")
        if self.packing is None or mask is not self.mask:
            self.mask, self.packing = mask, pack(mask)
        return self.run(ids, self.packing)

    def run(self, ids: Tensor, packing: Packing) -> Tensor:
        """Do all that is worth compiling."""
        x = self.encoder.embed(ids).flatten(0, 1)[packing.places].unsqueeze(0)  # (1, N, D)
        logits: Tensor = self.output(self.encoder.encode(x, packing)).squeeze(0)
        blank = logits.new_zeros(ids.numel(), TAGS)
        return blank.index_copy(0, packing.places, logits).view(*ids.shape, TAGS)


class Theirs(nn.Module):
    """`nn.TransformerEncoder` in place of the solution's layers; everything else is the same.

    Args:
        size: size of the encoder.

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
        """Map ids (B, T), mask (B, 1, T) or None without padding, to logits (B, T, C)."""
        padding = None if mask is None else ~mask.squeeze(1)
        x = self.layers(self.encoder.embed(ids), src_key_padding_mask=padding)
        logits: Tensor = self.output(x)
        return logits


def _encoder(size: Size, n_layers: int) -> Any:
    return solution()["TransformerEncoder"](
        VOCAB, size.d_model, size.n_heads, n_layers, size.d_ff, dropout=DROPOUT
    )


def build(name: str, size: Size, device: torch.device) -> Any:
    """Make one of the compared models by its name, seeded, on the device."""
    torch.manual_seed(0)
    model = _plain(name.removesuffix(COMPILED), size).to(device)
    if not name.endswith(COMPILED):
        return model
    if not isinstance(model, Packed):
        return torch.compile(model)
    model.run = torch.compile(model.run)  # type: ignore[method-assign]
    return model


def _plain(kind: str, size: Size) -> nn.Module:
    if kind == TORCH:
        return Theirs(size)
    if kind == PACKED:
        return Packed(size)
    if kind == SOLUTION:
        return Ours(size)
    return Ours(size, partial(FusedAttention, backend=BACKENDS[kind]))


def parameters(size: Size) -> int:
    """Count N, for all layers and the output; the word table takes part in no multiplication."""
    with torch.device("meta"):
        model = Ours(size)
    return _count(model) - _count(model.encoder.embedding)


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def batch_of(size: Size, device: torch.device, *, padded: bool) -> tuple[Tensor, ...]:
    """Draw ids (B, T), tags (B, T) with -100 at padding, and a mask (B, 1, T).

    Padded sentences are T/2 to T words long, the first one T; without padding there is no mask.
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

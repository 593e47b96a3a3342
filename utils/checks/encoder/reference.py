"""The encoder through torch's own layers: what the answers of lesson 05 are compared with."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from utils import blocks
from utils.checks.encoder.weights import torch_names

# Taken now: while answers are observed it is absent.
_TorchLayer = nn.TransformerEncoderLayer


class TorchLayer(blocks.EncoderLayer):
    """An encoder layer with the course's parts, computed by ``nn.TransformerEncoderLayer``."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        weights = torch_names(dict(self.named_parameters()))
        if mask is None:
            return self._run(weights, x, None)
        mask = mask.expand(len(x), x.shape[1], x.shape[1])
        empty = ~mask.any(-1, keepdim=True)
        output = self._run(weights, x, mask | empty)
        if not empty.any():
            return output
        # With values of zero every row of attention gives w_o(0), as rows with nothing allowed do.
        silent = weights | {name: _without_values(weights[name]) for name in _PROJECTIONS}
        return torch.where(empty, self._run(silent, x, mask | empty), output)

    def _run(self, weights: dict[str, Tensor], x: Tensor, mask: Tensor | None) -> Tensor:
        heads = self.self_attention.n_heads
        blocked = None if mask is None else (~mask).repeat_interleave(heads, 0)
        layer = _torch_layer(
            x.shape[-1], heads, self.feed_forward.linear_1.out_features, self.dropout.p
        )
        layer.norm_first = self.norm_first
        layer.train(self.training)
        with _plain_path():
            output: Tensor = functional_call(layer, weights, (x, blocked))
        return output


@cache
def _torch_layer(
    d_model: int, n_heads: int, d_ff: int, dropout: float
) -> nn.TransformerEncoderLayer:
    """Torch's layer without any numbers of its own."""
    return _TorchLayer(d_model, n_heads, d_ff, dropout, batch_first=True, device="meta")


_PROJECTIONS = ("self_attn.in_proj_weight", "self_attn.in_proj_bias")


def _without_values(stacked: Tensor) -> Tensor:
    """Set the last third of a stacked q, k, v projection to zero."""
    kept = 2 * len(stacked) // 3
    return torch.cat([stacked[:kept], torch.zeros_like(stacked[kept:])])


@contextmanager
def _plain_path() -> Iterator[None]:
    """Switch off torch's fused kernel for evaluation, whose last digits differ."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class TorchStack(blocks.TransformerEncoder):
    """An encoder whose layers are torch's."""

    def __init__(  # noqa: PLR0917 (these are the exercise's arguments)
        self,
        vocab_size: int,
        d_model: int = 512,
        n_heads: int = 8,
        n_layers: int = 6,
        d_ff: int = 2048,
        max_len: int = 5000,
        dropout: float = 0.1,
        norm_first: bool = False,
        padding_idx: int = 0,
    ) -> None:
        super().__init__(
            vocab_size, d_model, n_heads, 0, d_ff, max_len, dropout, norm_first, padding_idx
        )
        self.layers = nn.ModuleList(
            TorchLayer(d_model, n_heads, d_ff, dropout, norm_first) for _ in range(n_layers)
        )

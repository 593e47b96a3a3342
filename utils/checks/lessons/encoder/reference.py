"""The encoder made of torch's own layers, with which answers of lesson 05 are compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from utils.checks.lessons.encoder.probes.weights import torch_names
from utils.reference import modules

# Bound at import: torch lacks it while an answer is observed.
_TorchLayer = nn.TransformerEncoderLayer


class TorchLayer(modules.EncoderLayer):
    """An encoder layer with the course's parts, computed by ``nn.TransformerEncoderLayer``."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, T, D) to (B, T, D)."""
        weights = torch_names(dict(self.named_parameters()))
        if mask is None:
            return self._run(weights, x, None)
        mask = mask.expand(len(x), x.shape[1], x.shape[1])
        empty = ~mask.any(-1, keepdim=True)
        output = self._run(weights, x, mask | empty)
        if not empty.any():
            return output
        # With zero values every row of attention gives w_o(0), as rows with nothing allowed do.
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
    """Make torch's layer without any numbers (on the meta device)."""
    return _TorchLayer(d_model, n_heads, d_ff, dropout, batch_first=True, device="meta")


_PROJECTIONS = ("self_attn.in_proj_weight", "self_attn.in_proj_bias")


def _without_values(stacked: Tensor) -> Tensor:
    """Set the last third of a stacked q, k, v projection to zero."""
    kept = 2 * len(stacked) // 3
    return torch.cat([stacked[:kept], torch.zeros_like(stacked[kept:])])


@contextmanager
def _plain_path() -> Iterator[None]:
    """Switch off torch's fused kernel for eval mode, whose last digits differ."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class TorchStack(modules.TransformerEncoder):
    """An encoder whose layers are torch's."""

    layer_type = TorchLayer

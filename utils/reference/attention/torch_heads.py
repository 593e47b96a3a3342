"""Multi-head attention by torch's own function: the oracle."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.reference.attention.multi_head import MultiHeadAttention

# Looked up now, because checks make shortcuts absent from torch while they observe an answer.
_torch_attention = F.multi_head_attention_forward


class TorchHeads(MultiHeadAttention):
    """Attention in H heads, computed by the function behind ``nn.MultiheadAttention``."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, D), twice (B, S, D), (B, T, S) to output (B, T, D), weights (B, H, T, S)."""
        output, weights = self._attend(query, key, value, mask, 0.0)
        if self.training and self.dropout > 0:
            # torch returns weights after dropout; the course returns them before.
            output = self._attend(query, key, value, mask, self.dropout)[0]
        return output, weights

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float
    ) -> tuple[Tensor, Tensor]:
        size, n_queries, n_keys = len(query), query.shape[1], key.shape[1]
        blocked, empty = None, None
        if mask is not None:
            mask = mask.expand(size, n_queries, n_keys)
            empty = ~mask.any(-1, keepdim=True)  # (B, T, 1): torch would give NaN there
            blocked = (~(mask | empty)).repeat_interleave(self.n_heads, 0)
        output, weights = self._torch_forward(query, key, value, blocked, dropout)
        if empty is None:
            return output, weights
        nothing = self.w_o(torch.zeros_like(output[:1, :1]))
        return torch.where(empty, nothing, output), weights.masked_fill(empty.unsqueeze(1), 0.0)

    def _torch_forward(
        self, query: Tensor, key: Tensor, value: Tensor, blocked: Tensor | None, dropout: float
    ) -> tuple[Tensor, Tensor]:
        parts = (self.w_q, self.w_k, self.w_v)
        weights_in: list[Tensor] = [part.weight for part in parts]
        biases_in: list[Tensor] = [part.bias for part in parts if part.bias is not None]
        output, weights = _torch_attention(
            query.transpose(0, 1),
            key.transpose(0, 1),
            value.transpose(0, 1),
            embed_dim_to_check=query.shape[-1],
            num_heads=self.n_heads,
            in_proj_weight=torch.cat(weights_in),
            in_proj_bias=torch.cat(biases_in) if biases_in else None,
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=dropout,
            out_proj_weight=self.w_o.weight,
            out_proj_bias=self.w_o.bias,
            training=self.training,
            attn_mask=blocked,
            average_attn_weights=False,
        )
        assert weights is not None
        return output.transpose(0, 1), weights

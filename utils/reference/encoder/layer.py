"""The stand-in for lesson 05's encoder layer."""

from torch import Tensor, nn

from utils.reference.attention.multi_head import MultiHeadAttention
from utils.reference.encoder.parts import FeedForward, LayerNorm


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a residual and a normalisation."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D) -> (B, T, D)."""
        if self.norm_first:
            x = x + self._attend(self.norm_1(x), mask)
            return x + self._feed(self.norm_2(x))
        x = self.norm_1(x + self._attend(x, mask))
        normed: Tensor = self.norm_2(x + self._feed(x))
        return normed

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        dropped: Tensor = self.dropout(self.self_attention(x, x, x, mask)[0])
        return dropped

    def _feed(self, x: Tensor) -> Tensor:
        dropped: Tensor = self.dropout(self.feed_forward(x))
        return dropped

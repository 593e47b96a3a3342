"""Make an encoder a BERT with torch's own norm and activation: oracle and stand-in of lesson 07."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from utils.reference.encoder.parts import FeedForward
from utils.reference.positions.learned import LearnedPositionalEncoding


class _GeluFeedForward(FeedForward):
    """A feed-forward network with GELU, without dropout."""

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (..., D) -> (..., D)."""
        output: Tensor = self.linear_2(F.gelu(self.linear_1(x)))
        return output


def as_bert(encoder: Any, max_len: int = 512) -> None:
    """Exchange embedding, positions, feed-forward networks and norms of a post-norm encoder."""
    vocab_size, d_model = next(encoder.embedding.parameters()).shape
    encoder.embedding = nn.Embedding(vocab_size, d_model, encoder.padding_idx)
    table = LearnedPositionalEncoding(d_model, max_len)
    encoder.positions = nn.Sequential(table, nn.LayerNorm(d_model, 1e-12), nn.Dropout(0.1))
    for layer in encoder.layers:
        inner = layer.feed_forward.linear_1.out_features
        layer.feed_forward = _GeluFeedForward(d_model, inner)
        layer.norm_1, layer.norm_2 = nn.LayerNorm(d_model, 1e-12), nn.LayerNorm(d_model, 1e-12)

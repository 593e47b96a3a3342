"""The stand-in for lesson 04's embedding of words."""

from torch import Tensor, nn


class TokenEmbedding(nn.Embedding):
    """An embedding table whose rows are multiplied by sqrt(D); the padding row stays zero."""

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__(vocab_size, d_model, padding_idx)

    def forward(self, ids: Tensor) -> Tensor:
        """Embed ids (B, T) -> (B, T, D)."""
        scaled: Tensor = super().forward(ids) * self.embedding_dim**0.5
        return scaled

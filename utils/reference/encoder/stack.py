"""The stand-in for lesson 05's encoder."""

from torch import Tensor, nn

from utils.reference.encoder.layer import EncoderLayer
from utils.reference.encoder.parts import LayerNorm
from utils.reference.positions.layer import PositionalEncoding
from utils.reference.positions.token_embedding import TokenEmbedding


class TransformerEncoder(nn.Module):
    """Embedding, positions and a stack of encoder layers: ids (B, T) -> vectors (B, T, D).

    Attributes:
        layer_type: what its layers are, called as EncoderLayer is.

    """

    layer_type: type[nn.Module] = EncoderLayer

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
        super().__init__()
        self.padding_idx = padding_idx
        self.embedding = TokenEmbedding(vocab_size, d_model, padding_idx)
        self.positions = PositionalEncoding(d_model, max_len, dropout)
        self.layers = nn.ModuleList(
            self.layer_type(d_model, n_heads, d_ff, dropout, norm_first) for _ in range(n_layers)
        )
        self.final_norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def embed(self, ids: Tensor) -> Tensor:
        """Embed ids (B, T) -> vectors with positions (B, T, D)."""
        embedded: Tensor = self.positions(self.embedding(ids))
        return embedded

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D) -> (B, T, D) through all layers."""
        for layer in self.layers:
            x = layer(x, mask)
        normed: Tensor = self.final_norm(x)
        return normed

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode ids (B, T) -> (B, T, D); without a mask, padding is masked."""
        real = (ids != self.padding_idx).unsqueeze(1)
        return self.encode(self.embed(ids), real if mask is None else mask)

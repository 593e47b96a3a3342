"""An encoder that has what a language model asks of one, and nothing else of the course's."""

import torch
from torch import Tensor, nn


class OtherEncoder(nn.Module):
    """One head of attention over a table and learned places; it has no layers and no forward.

    Args:
        vocab_size: V.
        d_model: D.
        max_len: longest text.

    """

    def __init__(self, vocab_size: int, d_model: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.places = nn.Parameter(torch.zeros(max_len, d_model))
        self.asking = nn.Parameter(torch.zeros(d_model, d_model))

    def embed(self, ids: Tensor) -> Tensor:
        """Look up ids (B, T) and add their places -> (B, T, D)."""
        rows: Tensor = self.embedding(ids)
        return rows + self.places[: ids.shape[1]]

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let tokens (B, T, D) look at each other under a mask -> (B, T, D)."""
        scores = x @ self.asking @ x.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return torch.tanh(x + scores.softmax(-1) @ x)

    def forward(self, *_args: object, **_kwargs: object) -> Tensor:
        """Refuse: a language model asks for embed and encode.

        Raises:
            TypeError: always.

        """
        raise TypeError("this encoder has `embed` and `encode`, and no `forward`")

"""Encoders to compare yours with: one that sees each word alone, and a bidirectional LSTM.

Each can replace a TransformerEncoder in a tagger: it has `embedding`, `positions`, `padding_idx`,
`embed`, `encode` and `forward`.
"""

import torch
from torch import Tensor, nn


class _Encoder(nn.Module):
    """The base of the encoders here: an embedding and dropout, but no positions."""

    def __init__(self, vocab_size: int, d_model: int, dropout: float) -> None:
        super().__init__()
        # Imported here: where notebooks are graded it is another lesson's answer.
        from utils.reference.positions.token_embedding import TokenEmbedding  # noqa: PLC0415

        self.padding_idx = 0
        self.embedding = TokenEmbedding(vocab_size, d_model, self.padding_idx)
        self.positions = nn.Dropout(dropout)

    def embed(self, ids: Tensor) -> Tensor:
        """Embed ids (B, T) -> vectors (B, T, D)."""
        embedded: Tensor = self.positions(self.embedding(ids))
        return embedded

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D) -> (B, T, D); the mask (B, 1, T) is True at real words."""
        raise NotImplementedError

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode ids (B, T) -> (B, T, D); without a mask, padding is masked."""
        real = (ids != self.padding_idx).unsqueeze(1)
        return self.encode(self.embed(ids), real if mask is None else mask)


class PerWordEncoder(_Encoder):
    """Feed-forward layers with residuals, applied to each word alone: no context at all.

    Args:
        vocab_size: V.
        d_model: D.
        n_layers: number of layers.
        d_ff: hidden units of each layer.
        dropout: dropout rate on the embedded words.
        layer_dropout: dropout rate in every layer.

    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        layer_dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab_size, d_model, dropout)
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(d_model),
                nn.Linear(d_model, d_ff),
                nn.ReLU(),
                nn.Dropout(layer_dropout),
                nn.Linear(d_ff, d_model),
                nn.Dropout(layer_dropout),
            )
            for _ in range(n_layers)
        )
        self.final_norm = nn.LayerNorm(d_model)

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D) -> (B, T, D), each word by itself."""
        for layer in self.layers:
            x = x + layer(x)
        normed: Tensor = self.final_norm(x)
        return normed


class BiLSTMEncoder(_Encoder):
    """A bidirectional LSTM.

    Each direction is a separate LSTM, and one of them reads the real words of each sentence in
    reverse. Padding comes last for both, so it changes nothing, as with packed sequences. Unlike
    those, this can use torch's fast routine for whole tensors.

    Args:
        vocab_size: V.
        d_model: D.
        n_layers: number of layers.
        units: units of each direction; see `units_for`.
        dropout: dropout rate on the embedded words.
        layer_dropout: dropout rate after every layer.

    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int,
        units: int,
        *,
        dropout: float = 0.0,
        layer_dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab_size, d_model, dropout)
        widths = [d_model] + [2 * units] * (n_layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(w, units, batch_first=True) for w in widths)
        self.backwards = nn.ModuleList(nn.LSTM(w, units, batch_first=True) for w in widths)
        self.dropout = nn.Dropout(layer_dropout)
        self.to_model = nn.Linear(2 * units, d_model)

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D) -> (B, T, D)."""
        order = reversing(x, mask)
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            there = forwards(x)[0]  # (B, T, units)
            back = _reordered(backwards(_reordered(x, order))[0], order)
            x = self.dropout(torch.cat([there, back], -1))
        mapped: Tensor = self.to_model(x)
        return mapped


def reversing(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return positions (B, T) that reverse each sentence and leave its padding in place.

    Args:
        x: (B, T, D).
        mask: (B, 1, T), True for the real words, which come first; None if all are real.

    """
    place = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    if mask is None:
        return place.flip(1)
    lengths = mask.expand(len(x), 1, -1).sum(-1)  # (B, 1)
    return torch.where(place < lengths, lengths - 1 - place, place)


def _reordered(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


def units_for(n_parameters: int, d_model: int, n_layers: int) -> int:
    """Return the most units per direction for which a `BiLSTMEncoder` has at most `n_parameters`.

    Args:
        n_parameters: parameters of the layers to match, without embeddings.
        d_model: D.
        n_layers: layers of the LSTM.

    """
    units = 1
    while _lstm_parameters(units + 1, d_model, n_layers) <= n_parameters:
        units += 1
    return units


def _lstm_parameters(units: int, d_model: int, n_layers: int) -> int:
    gates = 8 * units  # four in each direction
    inputs = d_model + 2 * units * (n_layers - 1)
    layers = gates * (inputs + n_layers * (units + 2))
    return layers + (2 * units + 1) * d_model

"""Stand-ins for the blocks that lessons build, made of torch's own modules.

A later lesson uses one if your own block is not finished (see `utils.notebook.carry`), and grading
always does. Each has the name, the arguments and the attributes of its exercise.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.reference.attention import reference_attention

__all__ = [
    "EncoderLayer",
    "FeedForward",
    "LayerNorm",
    "LearnedPositionalEncoding",
    "MultiHeadAttention",
    "PositionalEncoding",
    "TokenEmbedding",
    "TransformerEncoder",
    "causal_mask",
    "padding_mask",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
]

# Looked up now, because checks make shortcuts absent from torch while they observe an answer.
_torch_attention = F.multi_head_attention_forward


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend from q (..., T, Dk) to k (..., S, Dk) and v (..., S, Dv); empty rows give zero.

    Returns:
        output (..., T, Dv) and weights (..., T, S).

    """
    return reference_attention(q, k, v, mask)


def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Mark real positions: lengths (B,) -> (B, 1, max_len), True where s < length."""
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths.unsqueeze(-1)).unsqueeze(1)


def causal_mask(size: int) -> Tensor:
    """Mark what a query may attend to: (1, size, size), True where s <= t."""
    return torch.ones(1, size, size, dtype=torch.bool).tril()


class MultiHeadAttention(nn.Module):
    """Attention in H heads, computed by the function behind ``nn.MultiheadAttention``.

    Raises:
        ValueError: d_model is not divisible by n_heads.

    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

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


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """Return encodings (max_len, d_model): sine in even columns, cosine in odd ones.

    Raises:
        ValueError: d_model is odd.

    """
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd; sine and cosine come in pairs")
    circle = _turns(max_len, d_model, 10000.0)
    return torch.stack([circle.imag, circle.real], -1).flatten(1).to(torch.get_default_dtype())


def rotary_embedding(x: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate each pair of columns of x (B, H, T, Dh) by its position's angle."""
    turns = _turns(x.shape[-2], x.shape[-1], base).to(x.device)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).double())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


def _turns(length: int, width: int, base: float) -> Tensor:
    """Return unit complex numbers (length, width / 2), at the angles p * base^(-2i / width)."""
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), rates)
    return torch.polar(torch.ones_like(angles), angles)


class PositionalEncoding(nn.Module):
    """A layer that adds sinusoids to x (B, T, D), then applies dropout."""

    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add positions, (B, T, D) -> (B, T, D); raise ValueError if T is more than max_len."""
        dropped: Tensor = self.dropout(x + _first(self.pe, x.shape[1]))
        return dropped


class LearnedPositionalEncoding(nn.Module):
    """A layer that adds a trained vector per position to x (B, T, D), then applies dropout."""

    def __init__(self, d_model: int, max_len: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(max_len, d_model), std=0.02))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add positions, (B, T, D) -> (B, T, D); raise ValueError if T is more than max_len."""
        dropped: Tensor = self.dropout(x + _first(self.weight, x.shape[1]))
        return dropped


def _first(table: Tensor, length: int) -> Tensor:
    if length > len(table):
        raise ValueError(f"a sequence of {length} tokens is longer than max_len = {len(table)}")
    return table[:length]


class TokenEmbedding(nn.Embedding):
    """An embedding table whose rows are multiplied by sqrt(D); the padding row stays zero."""

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__(vocab_size, d_model, padding_idx)

    def forward(self, ids: Tensor) -> Tensor:
        """Embed ids (B, T) -> (B, T, D)."""
        scaled: Tensor = super().forward(ids) * self.embedding_dim**0.5
        return scaled


class LayerNorm(nn.LayerNorm):
    """Normalisation of the last axis, followed by gain (`weight`) and `bias`."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)


class FeedForward(nn.Module):
    """Two linear layers with ReLU and dropout between them, applied to each position alone."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (..., D) -> (..., D)."""
        output: Tensor = self.linear_2(self.dropout(F.relu(self.linear_1(x))))
        return output


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

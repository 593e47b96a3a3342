"""Other right forms of lesson 04."""

import math

import torch
from torch import nn


def encoding_by_loops(max_len, d_model):
    if d_model % 2 == 1:
        raise ValueError("even, please")
    rows = []
    for p in range(max_len):
        row = []
        for i in range(d_model // 2):
            angle = p / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def encoding_by_exp(max_len, d_model):
    if d_model % 2 != 0:
        raise ValueError(f"d_model ({d_model}) must be even")
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def encoding_by_phase(max_len, d_model):
    if d_model % 2:
        raise ValueError
    column = torch.arange(d_model)
    rate = 1 / 10000 ** ((column - column % 2) / d_model)
    return torch.sin(torch.arange(max_len)[:, None] * rate + (column % 2) * math.pi / 2)


def shift_by_blocks(offset, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / 10000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


def shift_by_diagonals(offset, d_model):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    cos = angles.cos().repeat_interleave(2)
    beside = torch.stack([angles.sin(), torch.zeros_like(angles)], -1).flatten()[:-1]
    return cos.diag() + beside.diag(1) - beside.diag(-1)


class PositionsWithBatchAxis(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", encoding_by_exp(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        if x.size(1) > self.pe.size(1):
            raise ValueError(f"{x.size(1)} > {self.pe.size(1)}")
        return self.dropout(x + self.pe[:, : x.size(1)].to(x.dtype))


class PositionsNotSaved(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.register_buffer("pe", encoding_by_phase(max_len, d_model), persistent=False)

    def forward(self, x):
        length = x.shape[-2]
        if length > len(self.pe):
            raise ValueError("too long")
        rows = self.pe.narrow(0, 0, length).to(x)
        return nn.functional.dropout(torch.add(x, rows), self.p, self.training)


class LearnedAsEmbedding(nn.Embedding):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__(max_len, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.num_embeddings:
            raise ValueError("too long")
        places = torch.arange(x.shape[1], device=x.device)
        return self.drop(x + super().forward(places))


class LearnedFromZero(nn.Module):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.weight.shape[0]:
            raise ValueError("too long")
        return self.dropout(self.weight[None, : x.shape[1]] + x)


class LearnedWithBatchAxis(nn.Module):
    def __init__(self, d_model, max_len, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.weight.shape[1]:
            raise ValueError(f"{x.shape[1]} > {self.weight.shape[1]}")
        return self.dropout(x + self.weight[:, : x.shape[1]])


class EmbeddingDerived(nn.Embedding):
    def __init__(self, vocab_size, d_model, padding_idx=0):
        super().__init__(vocab_size, d_model, padding_idx=padding_idx)
        self.scale = math.sqrt(d_model)

    def forward(self, ids):
        return super().forward(ids) * self.scale


class EmbeddingByTable(nn.Module):
    def __init__(self, vocab_size, d_model, padding_idx=0):
        super().__init__()
        self.padding_idx = padding_idx
        self.table = nn.Parameter(torch.randn(vocab_size, d_model) / d_model**0.5)
        with torch.no_grad():
            self.table[padding_idx] = 0

    def forward(self, ids):
        rows = self.table[ids] * self.table.shape[1] ** 0.5
        return rows.masked_fill((ids == self.padding_idx).unsqueeze(-1), 0)


def alibi_by_loop(n_heads, length):
    start = 2 ** (-8 / n_heads)
    bias = torch.zeros(n_heads, length, length)
    for head in range(n_heads):
        for t in range(length):
            for s in range(length):
                bias[head, t, s] = -abs(t - s) * start ** (head + 1)
    return bias


def alibi_by_outer_product(n_heads, length):
    slopes = torch.tensor([2 ** (-8 * (h + 1) / n_heads) for h in range(n_heads)])
    distance = torch.cdist(*[torch.arange(length).float()[:, None]] * 2)
    return -torch.einsum("h,ts->hts", slopes, distance)


def rotary_by_matrices(x, base=10000.0, offset=0):
    length, width = x.shape[-2:]
    rows = []
    for p in range(length):
        pieces = []
        for i in range(width // 2):
            angle = (p + offset) * base ** (-2 * i / width)
            turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
            pieces.append(x[:, :, p, 2 * i : 2 * i + 2] @ torch.tensor(turn, dtype=x.dtype))
        rows.append(torch.cat(pieces, -1))
    return torch.stack(rows, 2)


def rotary_by_partner(x, base=10000.0, offset=0):
    width = x.shape[-1]
    rate = base ** (-torch.arange(0, width, 2, device=x.device).float() / width)
    angles = torch.outer(offset + torch.arange(x.shape[-2], device=x.device).float(), rate)
    cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
    partner = torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return x * cos.to(x.dtype) + partner * sin.to(x.dtype)


def rotary_complex(x, base=10000.0, offset=0):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).float())
    rate = torch.tensor([base ** (-i / x.shape[-1]) for i in range(0, x.shape[-1], 2)])
    angles = torch.arange(offset, offset + x.shape[2])[:, None] * rate
    return torch.view_as_real(pairs * torch.exp(1j * angles)).flatten(3).type_as(x)


def rotary_written_in(x, base=10000.0, offset=0):
    turned = torch.empty_like(x)
    for p in range(x.shape[2]):
        angle = (offset + p) / base ** (torch.arange(0, x.shape[3], 2) / x.shape[3])
        a, b = x[:, :, p, 0::2], x[:, :, p, 1::2]
        turned[:, :, p, 0::2] = a * angle.cos() - b * angle.sin()
        turned[:, :, p, 1::2] = a * angle.sin() + b * angle.cos()
    return turned


ENCODINGS = [encoding_by_loops, encoding_by_exp, encoding_by_phase]
FORMS = {
    "predict_fastest_column": ["First", " first "],
    "sinusoidal_encoding": ENCODINGS,
    "repaired_encoding": ENCODINGS,
    "shift_matrix": [shift_by_blocks, shift_by_diagonals],
    "PositionalEncoding": [PositionsWithBatchAxis, PositionsNotSaved],
    "LearnedPositionalEncoding": [LearnedAsEmbedding, LearnedFromZero, LearnedWithBatchAxis],
    "TokenEmbedding": [EmbeddingDerived, EmbeddingByTable],
    "alibi_bias": [alibi_by_loop, alibi_by_outer_product],
    "rotary_embedding": [
        rotary_by_matrices,
        rotary_by_partner,
        rotary_complex,
        rotary_written_in,
    ],
}

"""Other right forms of lesson 03."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def split_by_slices(x, n_heads):
    size = x.shape[-1] // n_heads
    return torch.stack([x[:, :, h * size : (h + 1) * size] for h in range(n_heads)], dim=1)


def split_by_permute(x, n_heads):
    b, t, d = x.shape
    return x.reshape(b, t, n_heads, d // n_heads).permute(0, 2, 1, 3).contiguous()


def split_by_unflatten(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)


def merge_by_flatten(x):
    return x.movedim(1, 2).flatten(2)


def merge_by_contiguous(x):
    b, h, t, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(b, t, h * d)


def merge_by_cat(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


class ByEinsum(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest != 0:
            raise ValueError(f"d_model={d_model} is not a multiple of n_heads={n_heads}")
        self.h, self.d = n_heads, d_head
        self.w_o = nn.Linear(d_model, d_model, bias)
        self.w_v = nn.Linear(d_model, d_model, bias)
        self.w_k = nn.Linear(d_model, d_model, bias)
        self.w_q = nn.Linear(d_model, d_model, bias)
        self.p = dropout

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.h, self.d))
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -1e9)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask[:, None]
        dropped = F.dropout(weights, self.p, self.training)
        return self.w_o(torch.einsum("bhts,bshd->bthd", dropped, v).flatten(-2)), weights


class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"cannot share {d_model} features among {n_heads} heads")
        self.n_heads = n_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.p = dropout

    def drop(self, w):
        return F.dropout(w, self.p, training=self.training)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, weights = [], []
        for a, b, c in zip(*(x.chunk(self.n_heads, -1) for x in (q, k, v)), strict=True):
            scores = a @ b.mT * a.shape[-1] ** -0.5
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), -torch.inf)
            w = torch.softmax(scores, -1)
            w = w if mask is None else w.masked_fill(mask.logical_not(), 0.0)
            outputs.append(self.drop(w) @ c)
            weights.append(w)
        return self.w_o(torch.cat(outputs, -1)), torch.stack(weights, 1)


class OwnDropout(HeadByHead):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__(d_model, n_heads, dropout, bias)

    def drop(self, w):
        if not self.training or self.p == 0:
            return w
        return w * (torch.rand_like(w) >= self.p) / (1 - self.p)


def fuse_by_cat(heads):
    return tuple(torch.cat([head[n] for head in heads]) for n in range(3))


def fuse_by_rows(heads):
    fused = [[], [], []]
    for head in heads:
        for rows, matrix in zip(fused, head, strict=True):
            rows.extend(matrix)
    return [torch.stack(rows) for rows in fused]


@torch.no_grad()
def load_by_slices(mha, torch_mha):
    d = torch_mha.embed_dim
    for n, layer in enumerate((mha.w_q, mha.w_k, mha.w_v)):
        layer.weight.copy_(torch_mha.in_proj_weight[n * d : (n + 1) * d])
        if torch_mha.in_proj_bias is not None:
            layer.bias.copy_(torch_mha.in_proj_bias[n * d : (n + 1) * d])
    mha.w_o.load_state_dict(torch_mha.out_proj.state_dict())


def load_new_data(mha, torch_mha):
    q, k, v = torch_mha.in_proj_weight.detach().clone().chunk(3)
    for layer, weight in ((mha.w_q, q), (mha.w_k, k), (mha.w_v, v)):
        layer.weight.data = weight
    mha.w_o.weight.data = torch_mha.out_proj.weight.detach().clone()
    if torch_mha.in_proj_bias is not None:
        biases = torch_mha.in_proj_bias.detach().clone().chunk(3)
        for layer, bias in zip((mha.w_q, mha.w_k, mha.w_v), biases, strict=True):
            layer.bias.data = bias
        mha.w_o.bias.data = torch_mha.out_proj.bias.detach().clone()


FORMS = {
    "split_heads": [split_by_slices, split_by_permute, split_by_unflatten],
    "merge_heads": [merge_by_flatten, merge_by_contiguous, merge_by_cat],
    "MultiHeadAttention": [ByEinsum, HeadByHead, OwnDropout],
    "predict_parameters_8_heads": [1050624, 1050624.0],
    "predict_parameters_16_heads": [1050624, 4 * 512 * 513],
    "fuse_heads": [fuse_by_cat, fuse_by_rows],
    "load_torch_attention": [load_by_slices, load_new_data],
    "repaired_split_heads": [split_by_slices, split_by_permute, split_by_unflatten],
}

"""Other right forms of lesson 02."""

import math

import torch
from torch import nn


def additive_by_einsum(query, keys, w_q, w_k, v):
    hidden = torch.einsum("bq,aq->ba", query, w_q).unsqueeze(1)
    hidden = hidden + torch.einsum("bsk,ak->bsa", keys, w_k)
    return torch.einsum("bsa,a->bs", torch.tanh(hidden), v)


def additive_by_repeating(query, keys, w_q, w_k, v):
    repeated = query.repeat_interleave(keys.shape[1], 0)
    hidden = torch.tanh(repeated @ w_q.mT + keys.flatten(0, 1) @ w_k.mT)
    return (hidden * v).sum(-1).view(keys.shape[:2])


def attend_by_where(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(torch.where(mask, scores, -1e9), dim=-1)
    weights = torch.where(mask, weights, 0.0)
    return torch.einsum("bs,bsd->bd", weights, values), weights


def attend_by_exp(scores, values, mask=None):
    top = scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    e = (scores - top.max(-1, keepdim=True).values.detach()).clamp(max=0).exp()
    e = e if mask is None else e * mask
    weights = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
    return (weights.unsqueeze(-1) * values).sum(1), weights


def attend_by_lowering(scores, values, mask=None):
    blocked = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask
    weights = (scores + blocked * -1e9).softmax(-1).masked_fill(blocked, 0.0)
    return torch.bmm(weights[:, None], values)[:, 0], weights


def attention_with_a_root_in_float32(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.tensor(q.shape[-1], dtype=torch.float32))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).nan_to_num()
    return weights @ v, weights


def attention_by_einsum(q, k, v, mask=None):
    scores = torch.einsum("...td,...sd->...ts", q / math.sqrt(q.size(-1)), k)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask.logical_not(), 0)
    return torch.einsum("...ts,...sd->...td", weights, v), weights


def attention_with_large_negative(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT) / k.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(mask == 0, -1e9).softmax(-1) * mask
    return weights @ v, weights


def attention_nan_to_num(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
        scores = scores + bias
        dead = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(dead, 0.0)
        weights = scores.softmax(-1).masked_fill(dead, 0.0)
    else:
        weights = scores.softmax(-1)
    return weights @ v, weights


class SelfAttentionInline(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
            setattr(self, name, nn.Linear(d_model, size, False))

    def forward(self, x, mask=None):
        return attention_by_einsum(self.w_q(x), self.w_k(x), self.w_v(x), mask)


class SelfAttentionByWeights(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        nn.Module.__init__(self)
        self.w_v = nn.Linear(d_model, d_v, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.scale = math.sqrt(d_k)

    def forward(self, x, mask=None):
        q, k, v = (x @ layer.weight.T for layer in (self.w_q, self.w_k, self.w_v))
        return attention_with_large_negative(q, k, v, mask)


def by_hand(attention):
    q = torch.tensor([[[1.0, 1.0]]])
    k = torch.tensor([[[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]]])
    v = torch.tensor([[[1.0], [10.0], [100.0]]])
    e = [math.exp(s / math.sqrt(2)) for s in (1, 3, 4)]
    output, weights = attention(q, k, v)
    assert torch.allclose(weights[0, 0], torch.tensor([x / sum(e) for x in e]), atol=1e-4)
    assert output.shape == (1, 1, 1)
    mask = torch.tensor([[[True, True, False]]])
    output, weights = attention(q, k, v, mask)
    assert abs(weights[0, 0, 2].item()) < 1e-6
    assert abs(weights.sum().item() - 1) < 1e-4
    assert abs(output.item() - (e[0] + 10 * e[1]) / (e[0] + e[1])) < 1e-2


def against_torch(attention):
    torch.manual_seed(3)
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8)
    keep = torch.tensor([[[True, False, True, True]], [[True, True, True, False]]])
    for mask in (None, keep):
        wanted = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        torch.testing.assert_close(attention(q, k, v, mask)[0], wanted)


def reach_by_backward(run, x):
    copy = x.clone().requires_grad_()
    run(copy)[:, -1, :].sum().backward(inputs=[copy])
    return copy.grad.square().sum(-1).sqrt().mean(0)


def reach_by_sentence(run, x):
    rows = []
    for sentence in x:
        leaf = sentence[None].detach().requires_grad_()
        grad = torch.autograd.grad(run(leaf)[0, -1].sum(), leaf)[0]
        rows.append(torch.linalg.norm(grad[0], dim=1))
    return torch.stack(rows).mean(dim=0)


def order_by_loop(layer, x, order):
    with torch.no_grad():
        moved, stayed = layer(x.index_select(1, order)), layer(x)
    total = sum(
        ((moved[:, new] - stayed[:, old]) ** 2).sum().item()
        for new, old in enumerate(order.tolist())
    )
    return math.sqrt(total)


FORMS = {
    "multiplicative_scores": [
        lambda query, keys, w: torch.einsum("bq,qk,bsk->bs", query, w, keys),
        lambda query, keys, w: ((keys @ w.T) * query[:, None]).sum(-1),
    ],
    "gradient_by_distance": [reach_by_backward, reach_by_sentence],
    "breaks_equivariance": [
        order_by_loop,
        lambda layer, x, order: float(torch.dist(layer(x)[:, order], layer(x[:, order]))),
    ],
    "predict_score_spread": [8, 8.0, 7.95],
    "predict_bug_of_symptom": [
        {"C": "masked too late", "B": "scaling forgotten", "A": "softmax twice"},
        {"A": "Softmax twice", "B": "Scaling  forgotten", "C": "Masked too late"},
    ],
    "additive_scores": [additive_by_einsum, additive_by_repeating],
    "attend": [attend_by_where, attend_by_exp, attend_by_lowering],
    "scaled_dot_product_attention": [
        attention_by_einsum,
        attention_with_a_root_in_float32,
        attention_with_large_negative,
        attention_nan_to_num,
    ],
    "padding_mask": [
        lambda lengths, n: (lengths.new_ones(1, n).cumsum(1) <= lengths[:, None]).unsqueeze(1),
        lambda lengths, n: torch.stack(
            [torch.arange(n, device=lengths.device) < x for x in lengths]
        )[:, None, :],
    ],
    "causal_mask": [
        lambda n: torch.ones(n, n).tril().bool()[None],
        lambda n: torch.arange(n)[None, :, None] >= torch.arange(n)[None, None, :],
    ],
    "SelfAttention": [SelfAttentionInline, SelfAttentionByWeights],
    "repaired_attention": [
        attention_by_einsum,
        attention_with_large_negative,
    ],
    "test_attention": [by_hand, against_torch],
}

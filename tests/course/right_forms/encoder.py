"""Other right forms of lesson 05."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

from utils.reference import modules


class NormByVar(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )
        self.eps = eps

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(var + self.eps), self.weight)


class NormBySums(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps, self.d_model = eps, d_model

    def forward(self, x):
        x = x - (x.sum(-1) / self.d_model).unsqueeze(-1)
        spread = torch.sqrt(torch.einsum("...d,...d->...", x, x) / self.d_model + self.eps)
        return x / spread[..., None] * self.weight + self.bias


class FeedForwardFunctional(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear_2, self.linear_1 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)
        self.p = dropout

    def forward(self, x):
        hidden = F.dropout(self.linear_1(x), self.p, self.training).clamp(min=0)
        return self.linear_2(hidden)


class FeedForwardByWeights(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff, bias=True)
        self.relu, self.drop = nn.ReLU(), nn.Dropout(p=dropout)
        self.linear_2 = nn.Linear(d_ff, d_model, bias=True)

    def forward(self, x):
        return self.drop(self.relu(self.linear_1(x))) @ self.linear_2.weight.T + self.linear_2.bias


class LayerByHelper(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.self_attention = modules.MultiHeadAttention(d_model, n_heads, dropout=dropout)
        self.feed_forward = modules.FeedForward(d_model, d_ff, dropout=dropout)
        self.drops = nn.ModuleList([nn.Dropout(dropout), nn.Dropout(dropout)])
        self.norm_first = norm_first

    def _around(self, x, norm, drop, sub_layer):
        if self.norm_first:
            return x + drop(sub_layer(norm(x)))
        return norm(x + drop(sub_layer(x)))

    def forward(self, x, mask=None):
        x = self._around(
            x, self.norm_1, self.drops[0], lambda y: self.self_attention(y, y, y, mask=mask)[0]
        )
        return self._around(x, self.norm_2, self.drops[1], self.feed_forward)


class LayerStepByStep(LayerByHelper):
    def forward(self, x, mask=None):
        residual = x
        if self.norm_first:
            x = self.norm_1(x)
        x, _ = self.self_attention(x, x, x, mask)
        x = residual + F.dropout(x, self.drops[0].p, self.training)
        residual = x = x if self.norm_first else self.norm_1(x)
        if self.norm_first:
            x = self.norm_2(x)
        x = residual + F.dropout(self.feed_forward(x), self.drops[1].p, self.training)
        return x if self.norm_first else self.norm_2(x)


class EncoderByAppending(nn.Module):
    def __init__(
        self, vocab_size, d_model=512, n_heads=8, n_layers=6, d_ff=2048, max_len=5000, dropout=0.1,
        norm_first=False, padding_idx=0,
    ):  # fmt: skip
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(modules.EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first))
        self.embedding = modules.TokenEmbedding(vocab_size, d_model, padding_idx=padding_idx)
        self.positions = modules.PositionalEncoding(d_model, max_len=max_len, dropout=dropout)
        self.final_norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.padding_idx = padding_idx

    def embed(self, ids):
        return self.positions(self.embedding(ids))

    def encode(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.final_norm(x)

    def forward(self, ids, mask=None):
        real = ids.ne(self.padding_idx)
        return self.encode(self.embed(ids), real[:, None, :] if mask is None else mask)


class EncoderWithWholeMask(EncoderByAppending):
    """Padding is blocked as a query too: what stands there is no one's business."""

    def forward(self, ids, mask=None):
        if mask is None:
            real = ids != self.padding_idx
            mask = real[:, None, :] & real[:, :, None]
        return self.encode(self.embed(ids), mask)


class EncoderOfCopies(EncoderByAppending):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for layer in self.layers)


def count_by_names(encoder):
    counts = dict.fromkeys(("embedding", "attention", "feed_forward", "norm", "total"), 0)
    for name, parameter in encoder.named_parameters():
        for part in counts:
            counts[part] += parameter.numel() * (part in name or part == "total")
    return {("layer_norm" if part == "norm" else part): n for part, n in counts.items()}


def count_by_identity(encoder):
    def size(modules):
        distinct = {p for module in modules for p in module.parameters()}
        return sum(p.numel() for p in distinct)

    norms = [m for m in encoder.modules() if isinstance(m, nn.LayerNorm)]
    return {
        "total": size([encoder]),
        "embedding": encoder.embedding.weight.numel(),
        "attention": size(layer.self_attention for layer in encoder.layers),
        "feed_forward": size(layer.feed_forward for layer in encoder.layers),
        "layer_norm": size(norms),
    }


@torch.no_grad()
def load_by_copying(encoder, torch_encoder):
    if len(encoder.layers) != len(torch_encoder.layers):
        raise ValueError(f"{len(encoder.layers)} layers, {len(torch_encoder.layers)} in torch's")
    for layer, other in zip(encoder.layers, torch_encoder.layers, strict=True):
        width = layer.self_attention.w_o.out_features
        for n, part in enumerate(("w_q", "w_k", "w_v")):
            rows = slice(n * width, (n + 1) * width)
            linear = getattr(layer.self_attention, part)
            linear.weight.copy_(other.self_attn.in_proj_weight[rows])
            linear.bias.copy_(other.self_attn.in_proj_bias[rows])
        pairs = [
            (layer.self_attention.w_o, other.self_attn.out_proj),
            (layer.feed_forward.linear_1, other.linear1),
            (layer.feed_forward.linear_2, other.linear2),
            (layer.norm_1, other.norm1),
            (layer.norm_2, other.norm2),
        ]
        for ours, theirs in pairs:
            ours.weight.copy_(theirs.weight)
            ours.bias.copy_(theirs.bias)
    if torch_encoder.norm is not None:
        encoder.final_norm.weight.copy_(torch_encoder.norm.weight)
        encoder.final_norm.bias.copy_(torch_encoder.norm.bias)


def load_by_names(encoder, torch_encoder):
    theirs, ours = torch_encoder.state_dict(), {}
    n_layers = 1 + max(int(name.split(".")[1]) for name in theirs if name.startswith("layers"))
    if n_layers != len(encoder.layers):
        raise ValueError("different depths")
    for name, tensor in theirs.items():
        new = name.replace("self_attn.out_proj", "self_attention.w_o")
        for old, part in (("linear", "feed_forward.linear_"), ("norm", "norm_")):
            new = new.replace(f"{old}1", f"{part}1").replace(f"{old}2", f"{part}2")
        if "in_proj" in new:
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                wanted = new.replace("self_attn.in_proj_", f"self_attention.w_{part}.")
                ours[wanted] = piece
        else:
            ours["final_" + new if new.startswith("norm") else new] = tensor
    encoder.load_state_dict(ours, strict=False)


def influence_in_one_batch(encoder, ids, source, target):
    mode = encoder.training
    try:
        encoder.train(False)
        with torch.inference_mode():
            x = encoder.embed(ids[None]).repeat(2, 1, 1)
            x[1, source] = 0
            y = encoder.encode(x)[:, target]
        return float(torch.dist(y[0], y[1]))
    finally:
        encoder.train(mode)


def influence_by_mask(encoder, ids, source, target):
    mode = encoder.training
    encoder.eval()
    x = encoder.embed(ids.view(1, -1))
    keep = (torch.arange(len(ids)) != source).to(x.dtype)[None, :, None]
    y, z = encoder.encode(x, None)[0, target], encoder.encode(x * keep, None)[0, target]
    encoder.train(mode)
    return ((y - z) ** 2).sum().sqrt().item()


def layer_repaired_in_two_steps(layer, x, mask=None):
    attended = layer.self_attention(x, x, x, mask=mask)[0]
    middle = layer.norm_1(attended + x)
    fed = layer.feed_forward(middle)
    return layer.norm_2(fed + middle)


def layer_repaired_by_a_helper(layer, x, mask=None):
    def add_and_norm(norm, x, found):
        return norm(x + found)

    x = add_and_norm(layer.norm_1, x, layer.self_attention(x, x, x, mask)[0])
    return add_and_norm(layer.norm_2, x, layer.feed_forward(x))


def stack_by_appending(make_layer, n_layers):
    stack = nn.ModuleList()
    for _ in range(n_layers):
        stack.append(make_layer())
    return stack


def stack_of_deep_copies(make_layer, n_layers):
    layer = make_layer()
    return nn.ModuleList(copy.deepcopy(layer) for _ in range(n_layers))


def with_more_and_more_zeros(encoder):
    """Every sentence beside one that is longer, with one zero to six, on either side of it."""
    company = [2, 2, 9, 1, 1, 6, 3, 4]
    for ids in ([5], [6, 1], [9, 9, 4]):
        alone = encoder(torch.tensor([ids]))
        for most in range(len(ids) + 1, len(company) + 1):
            row = ids + [0] * (most - len(ids))
            for batch in ([row, company[:most]], [company[:most], row]):
                place = batch.index(row)
                seen = encoder(torch.tensor(batch))[place, : len(ids)]
                assert (seen - alone[0]).abs().max() < 1e-4
                other = encoder(torch.tensor([company[:most]]))[0]
                assert (encoder(torch.tensor(batch))[1 - place] - other).abs().max() < 1e-4


def with_random_sentences(encoder):
    """Draw sentences, all of other lengths, and compare two ways of padding them."""
    generator = torch.Generator().manual_seed(3)
    for seed in range(6):
        lengths = torch.randperm(7, generator=generator)[:3] + 1
        drawn = [torch.randint(1, 10, (int(n),), generator=generator) for n in lengths]
        narrow = torch.nn.utils.rnn.pad_sequence(drawn, batch_first=True)
        wide = torch.nn.functional.pad(narrow, (0, seed + 1))
        assert narrow.shape < wide.shape
        vectors = encoder(narrow), encoder(wide)
        for row, ids in enumerate(drawn):
            alone = encoder(ids[None])[0]
            for found in vectors:
                assert torch.allclose(found[row, : len(ids)], alone, atol=1e-4)


FORMS = {
    "test_padding": [with_more_and_more_zeros, with_random_sentences],
    "LayerNorm": [NormByVar, NormBySums],
    "FeedForward": [FeedForwardFunctional, FeedForwardByWeights],
    "EncoderLayer": [LayerByHelper, LayerStepByStep],
    "repaired_layer": [
        layer_repaired_in_two_steps,
        layer_repaired_by_a_helper,
    ],
    "TransformerEncoder": [EncoderByAppending, EncoderWithWholeMask, EncoderOfCopies],
    "predict_feed_forward_share": [2 / 3, 0.67, 0.666],
    "count_parameters": [count_by_names, count_by_identity],
    "repaired_stack": [stack_by_appending, stack_of_deep_copies],
    "load_torch_encoder": [load_by_copying, load_by_names],
    "influence": [influence_in_one_batch, influence_by_mask],
}

"""Other right forms of lesson 07: an encoder that becomes a BERT and gets a BERT's weights."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from utils.reference.encoder.parts import FeedForward, LayerNorm
from utils.reference.positions.learned import LearnedPositionalEncoding


class ExactGelu(FeedForward):
    def forward(self, x):
        h = self.linear_1(x)
        return self.linear_2(h * 0.5 * (1 + torch.erf(h / math.sqrt(2))))


class GeluModule(FeedForward):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.activation = nn.GELU()

    def forward(self, x):
        return self.linear_2(self.activation(self.linear_1(x)))


class OwnNetwork(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear_2(F.gelu(self.linear_1(x)))


def bert_by_modules(encoder, max_len=512):
    table = list(encoder.embedding.parameters())[0]  # noqa: RUF015
    rows, width = table.shape
    encoder.embedding = nn.Embedding(rows, width, padding_idx=encoder.padding_idx)
    encoder.positions = nn.Sequential(
        LearnedPositionalEncoding(width, max_len), LayerNorm(width, 1e-12), nn.Dropout(p=0.1)
    )
    for layer in encoder.layers:
        inner = layer.feed_forward.linear_1.weight.shape[0]
        layer.feed_forward = GeluModule(width, inner)
        for name in ("norm_1", "norm_2"):
            setattr(layer, name, LayerNorm(width, 1e-12))


def bert_by_the_formula(encoder, max_len=512):
    (table,) = encoder.embedding.parameters()
    width = table.shape[1]
    encoder.embedding = nn.Embedding(*table.shape, encoder.padding_idx)
    norms = [LayerNorm(width, eps=1e-12) for _ in range(2 * len(encoder.layers) + 1)]
    positions = LearnedPositionalEncoding(width, max_len)
    encoder.positions = nn.Sequential(positions, norms.pop(), nn.Dropout(0.1))
    for layer in encoder.layers:
        layer.norm_1, layer.norm_2 = norms.pop(), norms.pop()
        layer.feed_forward = ExactGelu(width, layer.feed_forward.linear_2.in_features)


def bert_with_an_own_network(encoder, max_len=512):
    vocab, width = next(iter(encoder.embedding.parameters())).size()
    encoder.embedding = nn.Embedding(vocab, width, padding_idx=encoder.padding_idx)
    encoder.positions = nn.Sequential()
    encoder.positions.append(LearnedPositionalEncoding(width, max_len))
    encoder.positions.append(LayerNorm(width, 1e-12))
    encoder.positions.append(nn.Dropout(0.1))
    for n in range(len(encoder.layers)):
        layer = encoder.layers[n]
        layer.feed_forward = OwnNetwork(width, layer.feed_forward.linear_1.out_features)
        layer.norm_1 = LayerNorm(width, 1e-12)
        layer.norm_2 = LayerNorm(width, 1e-12)


def bert_that_gives_it_back(encoder, max_len=512):
    vocab, width = next(encoder.embedding.parameters()).shape
    parts = {
        "embedding": nn.Embedding(vocab, width, padding_idx=encoder.padding_idx),
        "positions": nn.Sequential(
            LearnedPositionalEncoding(width, max_len, 0.0), LayerNorm(width, 1e-12), nn.Dropout(0.1)
        ),
    }
    for name, part in parts.items():
        encoder.add_module(name, part)
    for layer in encoder.layers:
        layer.add_module("norm_2", LayerNorm(width, 1e-12))
        layer.add_module("norm_1", LayerNorm(width, 1e-12))
        inner = layer.feed_forward.linear_1.out_features
        layer.add_module("feed_forward", ExactGelu(width, inner))
    return encoder


OURS_AND_THEIRS = [
    ("self_attention.w_q", "attention.self.query"),
    ("self_attention.w_k", "attention.self.key"),
    ("self_attention.w_v", "attention.self.value"),
    ("self_attention.w_o", "attention.output.dense"),
    ("norm_1", "attention.output.LayerNorm"),
    ("feed_forward.linear_1", "intermediate.dense"),
    ("feed_forward.linear_2", "output.dense"),
    ("norm_2", "output.LayerNorm"),
]
POSITION = "embeddings.position_embeddings.weight"
SEGMENT = "embeddings.token_type_embeddings.weight"


def load_by_state_dicts(encoder, tensors):
    plan = []
    for n, layer in enumerate(encoder.layers):
        for ours, theirs in OURS_AND_THEIRS:
            name = f"encoder.layer.{n}.{theirs}"
            plan.append(
                (
                    layer.get_submodule(ours),
                    {"weight": tensors[name + ".weight"], "bias": tensors[name + ".bias"]},
                )
            )
    norm = {kind: tensors["embeddings.LayerNorm." + kind] for kind in ("weight", "bias")}
    plan += [
        (encoder.embedding, {"weight": tensors["embeddings.word_embeddings.weight"]}),
        (encoder.positions[0], {"weight": tensors[POSITION] + tensors[SEGMENT][0]}),
        (encoder.positions[1], norm),
    ]
    for part, state in plan:
        part.load_state_dict(state)


def load_by_renaming(encoder, tensors):
    def theirs(path):
        for ours, their in OURS_AND_THEIRS:
            path = path.replace(ours, their)
        return path.replace("layers.", "encoder.layer.", 1)

    special = {
        "embedding.weight": "embeddings.word_embeddings.weight",
        "positions.0.weight": POSITION,
    }
    special |= {
        f"positions.1.{kind}": f"embeddings.LayerNorm.{kind}" for kind in ("weight", "bias")
    }
    state = {path: tensors[special.get(path, theirs(path))] for path in encoder.state_dict()}
    state["positions.0.weight"] = state["positions.0.weight"] + tensors[SEGMENT][0, None]
    encoder.load_state_dict(state)


def load_by_data(encoder, tensors):
    wanted = [(encoder.embedding.weight, tensors["embeddings.word_embeddings.weight"])]
    wanted.append((encoder.positions[0].weight, tensors[POSITION] + tensors[SEGMENT][0]))
    norm = encoder.positions[1]
    wanted.append((norm.weight, tensors["embeddings.LayerNorm.weight"]))
    wanted.append((norm.bias, tensors["embeddings.LayerNorm.bias"]))
    for n in range(len(encoder.layers)):
        for ours, theirs in OURS_AND_THEIRS:
            part = encoder.layers[n].get_submodule(ours)
            wanted.append((part.weight, tensors[f"encoder.layer.{n}.{theirs}.weight"]))
            wanted.append((part.bias, tensors[f"encoder.layer.{n}.{theirs}.bias"]))
    for parameter, tensor in wanted:
        parameter.data[...] = tensor


def load_after_a_look(encoder, tensors):
    names = {}
    for n in range(len(encoder.layers)):
        for ours, theirs in OURS_AND_THEIRS:
            for kind in ("weight", "bias"):
                names[f"layers.{n}.{ours}.{kind}"] = f"encoder.layer.{n}.{theirs}.{kind}"
    names["embedding.weight"] = "embeddings.word_embeddings.weight"
    names["positions.0.weight"] = POSITION
    names["positions.1.weight"] = "embeddings.LayerNorm.weight"
    names["positions.1.bias"] = "embeddings.LayerNorm.bias"
    missing = {*names.values(), SEGMENT} - set(tensors)
    if missing:
        raise KeyError(min(missing))
    own = dict(encoder.named_parameters())
    with torch.no_grad():
        for ours, theirs in names.items():
            own[ours].copy_(tensors[theirs])
        own["positions.0.weight"].add_(tensors[SEGMENT][0])


FORMS = {
    "as_bert": [
        bert_by_modules,
        bert_by_the_formula,
        bert_with_an_own_network,
        bert_that_gives_it_back,
    ],
    "load_bert": [load_by_state_dicts, load_by_renaming, load_by_data, load_after_a_look],
}

"""Other right forms of lesson 07."""

import json
import math
import struct

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from utils.reference.learned_positions import LearnedPositionalEncoding
from utils.reference.parts import FeedForward, LayerNorm

TORCH = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64}
CODES = {"F32": "f", "I64": "q", "F16": "e"}


def read_with_one_buffer(content):
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length].decode("utf-8"))
    buffer = bytearray(content[8 + length :])
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        count = math.prod(entry["shape"])
        begin, dtype = entry["data_offsets"][0], TORCH[entry["dtype"]]
        flat = torch.frombuffer(buffer, dtype=dtype, count=count, offset=begin)
        found[name] = flat.reshape(*entry["shape"])
    return found


def read_number_by_number(content):
    length = sum(byte << 8 * place for place, byte in enumerate(content[:8]))
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    found = {}
    for name in sorted(header):
        if name.startswith("__"):
            continue
        kind, (begin, end) = header[name]["dtype"], header[name]["data_offsets"]
        raw = data[begin:end]
        if kind == "BF16":
            pairs = [raw[n : n + 2] for n in range(0, len(raw), 2)]
            numbers = [struct.unpack("<f", b"\0\0" + pair)[0] for pair in pairs]
        else:
            numbers = [n for (n,) in struct.iter_unpack(f"<{CODES[kind]}", raw)]
        found[name] = torch.tensor(numbers, dtype=TORCH[kind]).view(header[name]["shape"])
    return found


def read_as_bytes_first(content):
    size = int(np.frombuffer(content[:8], "<u8")[0])
    header = {k: v for k, v in json.loads(content[8 : size + 8]).items() if k != "__metadata__"}
    found = {}
    for name, entry in header.items():
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        raw = torch.tensor(list(content[first:last]), dtype=torch.uint8)
        found[name] = raw.view(TORCH[entry["dtype"]]).unflatten(0, entry["shape"])
    return found


def read_by_cloning(content):
    length = int.from_bytes(content[0:8], byteorder="little")
    header = json.loads(str(content[8 : 8 + length], "utf-8"))
    whole = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    return {
        name: whole[8 + length + e["data_offsets"][0] : 8 + length + e["data_offsets"][1]]
        .clone()
        .view(TORCH[e["dtype"]])
        .reshape(e["shape"])
        for name, e in header.items()
        if name != "__metadata__"
    }


def pieces_by_recursion(word, vocab, mark=""):
    if not word:
        return []
    for n in range(len(word), 0, -1):
        if mark + word[:n] in vocab:
            rest = pieces_by_recursion(word[n:], vocab, "##")
            return ["[UNK]"] if rest == ["[UNK]"] else [mark + word[:n], *rest]
    return ["[UNK]"]


def pieces_by_shrinking(word, vocab):
    found, rest = [], word
    while rest:
        piece = rest
        while piece and ("##" if found else "") + piece not in vocab:
            piece = piece[:-1]
        if not piece:
            return ["[UNK]"]
        found.append(("##" if found else "") + piece)
        rest = rest[len(piece) :]
    return found


def pieces_by_the_longest(word, vocab):
    found, start = [], 0
    while start != len(word):
        mark = "##" * (start > 0)
        fitting = [
            p for p in vocab if p.startswith(mark) and word[start:].startswith(p[len(mark) :])
        ]
        fitting = [p for p in fitting if len(p) > len(mark) and (mark or not p.startswith("##"))]
        if not fitting:
            return ["[UNK]"]
        best = max(fitting, key=len)
        found.append(best)
        start += len(best) - len(mark)
    return found


def pieces_as_the_first_code_did(word, vocab):
    chars, is_bad, start, sub_tokens = list(word), False, 0, []
    while start < len(chars):
        end, cur_substr = len(chars), None
        while start < end:
            substr = "".join(chars[start:end])
            if start > 0:
                substr = "##" + substr
            if substr in vocab:
                cur_substr = substr
                break
            end -= 1
        if cur_substr is None:
            is_bad = True
            break
        sub_tokens.append(cur_substr)
        start = end
    return ["[UNK]"] if is_bad else sub_tokens


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
    encoder.embedding = nn.Embedding.from_pretrained(table.detach(), freeze=False, padding_idx=0)
    norms = [LayerNorm(width, eps=1e-12) for _ in range(2 * len(encoder.layers) + 1)]
    positions = LearnedPositionalEncoding(width, max_len)
    encoder.positions = nn.Sequential(positions, norms.pop(), nn.Dropout(0.1))
    for layer in encoder.layers:
        layer.norm_1, layer.norm_2 = norms.pop(), norms.pop()
        layer.feed_forward = ExactGelu(width, layer.feed_forward.linear_2.in_features)


def bert_with_an_own_network(encoder, max_len=512):
    vocab, width = next(iter(encoder.embedding.parameters())).size()
    encoder.embedding = nn.Embedding(vocab, width, padding_idx=0)
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


def difference_by_generator(ours, theirs, real, atol):
    pairs = enumerate(zip(ours, theirs, strict=True))
    return next((n for n, (a, b) in pairs if not bool(((a - b)[real].abs() <= atol).all())), None)


def difference_by_allclose(ours, theirs, real, atol):
    for n in range(len(ours)):
        if not torch.allclose(ours[n][real], theirs[n][real], rtol=0, atol=atol):
            return n
    return None


def difference_by_maximum(ours, theirs, real, atol):
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        largest = (a - b).abs().masked_fill(~real.unsqueeze(-1), 0.0).max().item()
        if math.isnan(largest) or largest > atol:
            return n
    return None


def difference_by_stacking(ours, theirs, real, atol):
    apart = (torch.stack(list(ours)) - torch.stack(list(theirs)))[:, real]  # (N + 1, tokens, D)
    wrong = ((apart.abs() > atol) | apart.isnan()).flatten(1).any(1)
    return int(wrong.int().argmax()) if wrong.any() else None


def vectors_by_sum_alone(vectors, real):
    return F.normalize(vectors.masked_fill(~real[..., None], 0).sum(1), dim=1)


def vectors_by_einsum(vectors, real):
    total = torch.einsum("btd,bt->bd", vectors, real.to(vectors.dtype))
    length = total.norm(dim=-1, keepdim=True)
    return total / torch.where(length > 0, length, torch.ones_like(length))


def vectors_by_matmul(vectors, real):
    weights = real.to(vectors.dtype) / real.sum(-1, keepdim=True).clamp_min(1)
    return F.normalize((weights[:, None] @ vectors)[:, 0], p=2, dim=-1)


def vectors_by_rows(vectors, real):
    rows = []
    for sentence, kept in zip(vectors, real, strict=True):
        if not kept.any():
            rows.append(torch.zeros_like(sentence[0]))
            continue
        mean = sentence[kept].mean(0)
        rows.append(mean / (mean**2).sum().sqrt())
    return torch.stack(rows)


def firsts_by_lists(words, encode):
    pieces = [encode(word) for word in words]
    pieces = [p if len(p) > 0 else [100] for p in pieces]
    ids = [101]
    for p in pieces:
        ids.extend(p)
    ids.append(102)
    firsts, place = [], 1
    for p in pieces:
        firsts.append(place)
        place += len(p)
    return ids, firsts


def firsts_by_sums(words, encode):
    pieces = [encode(word) or [100] for word in words]
    firsts = [1 + sum(map(len, pieces[:n])) for n in range(len(pieces))]
    return [101] + [x for p in pieces for x in p] + [102], firsts


def firsts_by_marks(words, encode):
    ids, starts = [101], [False]
    for word in words:
        own = encode(word)
        if not own:
            own = [100]
        ids += own
        starts += [True] + [False] * (len(own) - 1)
    return ids + [102], [n for n, start in enumerate(starts) if start]  # noqa: RUF005


def firsts_from_the_end(words, encode):
    ids, firsts = [102], []
    for word in reversed(list(words)):
        ids = (encode(word) or [100]) + ids
        firsts.insert(0, len(ids))
    return [101, *ids], [len(ids) - n + 1 for n in firsts]


def loss_by_logsumexp(a, b, scale=20.0):
    scores = scale * torch.einsum("id,jd->ij", a, b)
    return (scores.logsumexp(1) - scores.diag()).mean()


def loss_by_log_softmax(a, b, scale=20.0):
    log = ((a @ b.transpose(0, 1)) * scale).log_softmax(-1)
    return -log[range(len(a)), range(len(a))].mean()


def loss_by_nll(a, b, scale=20.0):
    return F.nll_loss(F.log_softmax(a @ (scale * b).mT, 1), torch.arange(a.shape[0]))


def loss_by_rows(a, b, scale=20.0):
    losses = []
    for i in range(len(a)):
        scores = scale * (b * a[i]).sum(-1)
        losses.append(torch.logsumexp(scores, 0) - scores[i])
    return sum(losses) / len(losses)


RIGHT = {
    "A": "segment row missing",
    "B": "padding in the mean",
    "C": "first layer in all layers",
}
FORMS = {
    "read_safetensors": [
        read_with_one_buffer,
        read_number_by_number,
        read_as_bytes_first,
        read_by_cloning,
    ],
    "word_pieces": [
        pieces_by_recursion,
        pieces_by_shrinking,
        pieces_by_the_longest,
        pieces_as_the_first_code_did,
    ],
    "as_bert": [
        bert_by_modules,
        bert_by_the_formula,
        bert_with_an_own_network,
        bert_that_gives_it_back,
    ],
    "load_bert": [load_by_state_dicts, load_by_renaming, load_by_data, load_after_a_look],
    "first_difference": [
        difference_by_generator,
        difference_by_allclose,
        difference_by_maximum,
        difference_by_stacking,
    ],
    "sentence_vectors": [
        vectors_by_sum_alone,
        vectors_by_einsum,
        vectors_by_matmul,
        vectors_by_rows,
    ],
    "first_pieces": [firsts_by_lists, firsts_by_sums, firsts_by_marks, firsts_from_the_end],
    "contrastive_loss": [loss_by_logsumexp, loss_by_log_softmax, loss_by_nll, loss_by_rows],
    "predict_best_layer": [2, 2.0],
    "predict_fault_of_encoder": [
        RIGHT,
        {letter.lower(): fault.upper() for letter, fault in RIGHT.items()},
    ],
}

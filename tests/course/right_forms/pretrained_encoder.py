"""Other right forms of lesson 07."""

import json
import math
import struct

import numpy as np
import torch
from torch.nn import functional as F

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
    "predict_best_layer": [2, 2.0, 1, 3],
    "predict_fault_of_encoder": [
        RIGHT,
        {letter.lower(): fault.upper() for letter, fault in RIGHT.items()},
    ],
}

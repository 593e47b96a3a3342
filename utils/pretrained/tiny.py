"""A tiny BERT of random numbers, in the published model's form: where that is missing."""

import json
import string
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.pretrained.torch_bert import pooled, torch_states

SIZES: Final = (600, 24, 4, 6, 48)  # V, D, H, N, F; as many layers as the published one
MAX_LEN: Final = 512
CLS, SEP = 101, 102
SPECIAL: Final = {0: "[PAD]", 100: "[UNK]", CLS: "[CLS]", SEP: "[SEP]", 103: "[MASK]"}
LENGTHS: Final = (12, 3, 5)
_LINEARS: Final = {
    "attention.self.query": (1, 1),
    "attention.self.key": (1, 1),
    "attention.self.value": (1, 1),
    "attention.output.dense": (1, 1),
    "intermediate.dense": (2, 1),
    "output.dense": (1, 2),
}


def vocabulary() -> dict[str, int]:
    """Return a vocabulary that spells all that is written in ASCII."""
    letters = string.ascii_lowercase + string.digits
    signs = [c for c in string.punctuation if c.isprintable()]
    pieces = [*letters, *(f"##{c}" for c in letters), *signs]
    pieces += ["una", "##ff", "##ord", "##able", "the", "a", "of", "and", "is", "it"]
    names, rest = dict(SPECIAL), iter(dict.fromkeys(pieces))
    for number in range(SIZES[0]):
        if number not in names:
            names[number] = next(rest, f"[unused{number}]")
    return {piece: number for number, piece in sorted(names.items())}


def tensors() -> dict[str, Tensor]:
    """Return random tensors under the names of the published file."""
    random = torch.Generator().manual_seed(7)
    vocab, width, _, layers, inner = SIZES

    def draw(*shape: int, scale: float) -> Tensor:
        return torch.randn(*shape, generator=random) * scale

    def norm() -> dict[str, Tensor]:
        return {"weight": 1 + draw(width, scale=0.2), "bias": draw(width, scale=0.2)}

    tables = {"word": vocab, "position": MAX_LEN, "token_type": 2}
    found = {
        f"embeddings.{k}_embeddings.weight": draw(n, width, scale=0.6) for k, n in tables.items()
    }
    found |= {f"embeddings.LayerNorm.{kind}": tensor for kind, tensor in norm().items()}
    for n in range(layers):
        for name, (rows, columns) in _LINEARS.items():
            shape = (width if rows == 1 else inner, width if columns == 1 else inner)
            # Queries and keys are larger, or tokens become alike.
            spread = 0.3 if name.endswith((".query", ".key")) else 0.1
            found[f"encoder.layer.{n}.{name}.weight"] = draw(*shape, scale=spread)
            found[f"encoder.layer.{n}.{name}.bias"] = draw(shape[0], scale=0.1)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            found |= {f"encoder.layer.{n}.{part}.{kind}": t for kind, t in norm().items()}
    found["pooler.dense.weight"] = draw(width, width, scale=0.3)
    found["pooler.dense.bias"] = draw(width, scale=0.3)
    return {"embeddings.position_ids": torch.arange(MAX_LEN).unsqueeze(0), **found}


def content() -> bytes:
    """Return the tiny model as a file in the format safetensors."""
    header, body, place = dict[str, object](), list[bytes](), 0
    for name, tensor in tensors().items():
        numbers = tensor.contiguous().numpy().tobytes()
        kind = "I64" if tensor.dtype == torch.int64 else "F32"
        offsets = [place, place + len(numbers)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        body.append(numbers)
        place += len(numbers)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(body)


def three_broken_encoders() -> dict[str, dict[str, list[float]]]:
    """Return what is seen of three broken tiny encoders, computed by torch's own layers.

    For each: how far each state is from the right one at real tokens, and the cosine of the
    sentence vectors to the right ones.
    """
    right, ids = tensors(), torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
    random = torch.Generator().manual_seed(3)
    for row, length in zip(ids, LENGTHS, strict=True):
        row[:length] = torch.randint(104, 200, (length,), generator=random)
    real = ids != 0
    row_of_zeros = torch.zeros_like(right["embeddings.token_type_embeddings.weight"])
    changed = {
        "A": (right | {"embeddings.token_type_embeddings.weight": row_of_zeros}, real),
        "B": (right, torch.ones_like(real)),
        "C": (_first_layer_everywhere(right), real),
    }
    states = torch_states(right, ids, SIZES[2])
    found = {}
    for letter, (numbers, kept) in changed.items():
        wrong = torch_states(numbers, ids, SIZES[2])
        apart = [(a - b)[real].abs().max().item() for a, b in zip(wrong, states, strict=True)]
        alike = F.cosine_similarity(pooled(wrong[-1], kept), pooled(states[-1], real))
        found[letter] = {
            "largest difference, state 0 to 6": apart,
            "cosines of the sentence vectors": alike.tolist(),
        }
    return found


def _first_layer_everywhere(right: dict[str, Tensor]) -> dict[str, Tensor]:
    def source(name: str) -> str:
        before, found, rest = name.partition("encoder.layer.")
        return f"{before}{found}0.{rest.partition('.')[2]}" if found else name

    return {name: right[source(name)] for name in right}

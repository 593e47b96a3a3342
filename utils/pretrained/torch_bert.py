"""A BERT made of torch's own layers, with which a student's encoder is compared."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

EPS = 1e-12
_PARTS = {
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm1": "attention.output.LayerNorm",
    "norm2": "output.LayerNorm",
    "self_attn.out_proj": "attention.output.dense",
}


@torch.no_grad()
def torch_states(tensors: Mapping[str, Tensor], ids: Tensor, n_heads: int) -> list[Tensor]:
    """Compute the states after 0, 1, ... N layers: ids (B, T), 0 at padding -> each (B, T, D)."""
    embedding, norm = "embeddings.{}_embeddings.weight".format, "embeddings.LayerNorm.{}".format
    x = F.embedding(ids, tensors[embedding("word")])
    x = x + tensors[embedding("position")][: ids.shape[1]] + tensors[embedding("token_type")][0]
    width = x.shape[-1]
    x = F.layer_norm(x, (width,), tensors[norm("weight")], tensors[norm("bias")], EPS)
    inner = len(tensors["encoder.layer.0.intermediate.dense.bias"])
    layer = nn.TransformerEncoderLayer(
        width, n_heads, inner, 0.0, "gelu", EPS, batch_first=True, device="meta"
    )
    states = [x]
    while f"encoder.layer.{len(states) - 1}.output.dense.bias" in tensors:
        weights = _named_as_torch(tensors, f"encoder.layer.{len(states) - 1}.")
        padding = {"src_key_padding_mask": ids == 0}
        states.append(functional_call(layer, weights, (states[-1],), padding))
    return states


def pooled(vectors: Tensor, real: Tensor) -> Tensor:
    """Average the vectors (B, T, D) of the tokens that are real (B, T)."""
    return (vectors * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True)


def _named_as_torch(tensors: Mapping[str, Tensor], before: str) -> dict[str, Tensor]:
    found = {}
    for kind in ("weight", "bias"):
        stacked = [tensors[f"{before}attention.self.{x}.{kind}"] for x in ("query", "key", "value")]
        found[f"self_attn.in_proj_{kind}"] = torch.cat(stacked)
        found |= {f"{ours}.{kind}": tensors[f"{before}{p}.{kind}"] for ours, p in _PARTS.items()}
    return found

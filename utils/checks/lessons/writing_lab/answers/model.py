"""The language model: an independent right answer."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.writing_lab.probes import PROBES


class LanguageModelOracle(nn.Module):
    """A language model with torch's own causal mask, which is 0 where a token may attend."""

    def __init__(self, encoder: Any, vocab_size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.to_logits = nn.Linear(encoder.embedding.embedding_dim, vocab_size)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, T, V)."""
        allowed = nn.Transformer.generate_square_subsequent_mask(ids.shape[1]) == 0
        encoded = self.encoder.encode(self.encoder.embed(ids), allowed.unsqueeze(0))
        scores = torch.einsum("btd,vd->btv", encoded, self.to_logits.weight)
        return scores + self.to_logits.bias


EXERCISES = by_id(Exercise(PROBES["LanguageModel"], LanguageModelOracle))

"""Scaled embeddings: the right answer, and the mistakes that no patch says."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.positional_encoding.probes import PROBES


class TokenEmbedding(nn.Module):
    """Scaled rows of a table, looked up by products with one-hot rows."""

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__()
        table = torch.randn(vocab_size, d_model)
        table[padding_idx] = 0.0
        self.table, self.padding = nn.Parameter(table), padding_idx

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to (B, T, D)."""
        words, width = self.table.shape
        is_padding = (torch.arange(words) == self.padding).unsqueeze(1)
        table = torch.where(is_padding, self.table.detach(), self.table) * width**0.5
        looked_up: Tensor = F.one_hot(ids, words).to(table.dtype) @ table
        return looked_up


_MISTAKES = (no_forward("TokenEmbedding", TokenEmbedding), no_set_up("TokenEmbedding", keep_module))
EXERCISES = by_id(Exercise(PROBES["TokenEmbedding"], TokenEmbedding, _MISTAKES))

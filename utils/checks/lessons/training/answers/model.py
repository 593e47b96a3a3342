"""The tagger: an independent right answer."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.training.probes import PROBES


class TaggerOracle(nn.Module):
    """A tagger that reads sentences singly, cut to their words if unmasked: no padding enters."""

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.embedding.embedding_dim
        self.features = nn.ModuleList(nn.Embedding(size, width) for size in feature_sizes)
        self.output = nn.Linear(width, n_tags)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        columns = [None] * len(ids) if features is None else list(features)
        rows = [self._read(*pair, mask) for pair in zip(ids, columns, strict=True)]
        return torch.stack(rows)

    def _read(self, ids: Tensor, features: Tensor | None, mask: Tensor | None) -> Tensor:
        """Map ids (T,) to logits (T, C)."""
        real = int((ids != self.encoder.padding_idx).sum())
        kept = real if real and mask is None else len(ids)
        if not real:  # nothing to cut to
            mask = torch.zeros(1, 1, kept, dtype=torch.bool)
        x = self.encoder.embedding(ids[None, :kept])
        for number, table in enumerate(self.features):
            assert isinstance(table, nn.Embedding)
            assert features is not None
            chosen = F.one_hot(features[:kept, number], table.num_embeddings).to(x.dtype)
            x = x + chosen @ table.weight * table.embedding_dim**0.5
        encoded = self.encoder.encode(self.encoder.positions(x), mask)[0]
        logits = torch.einsum("td,cd->tc", encoded, self.output.weight) + self.output.bias
        return F.pad(logits, (0, 0, 0, len(ids) - kept))


EXERCISES = by_id(Exercise(PROBES["Tagger"], TaggerOracle))

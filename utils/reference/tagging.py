"""Right implementations that stand in for unfinished exercises of lesson 06."""

from collections.abc import Sequence

import torch
from torch import Tensor

IGNORED = -100  # the tag of padding

Pair = tuple[list[int], list[int]]


def reference_collate(batch: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Write pairs of id lists into tensors filled with padding, one entry at a time.

    Returns:
        ids (B, T), lengths (B,) and tags (B, T), all int64.

    """
    lengths = torch.tensor([len(words) for words, _ in batch], dtype=torch.long)
    shape = (len(batch), max((len(words) for words, _ in batch), default=0))
    ids, tags = torch.zeros(shape, dtype=torch.long), torch.full(shape, IGNORED)
    for row, pair in enumerate(batch):  # a sentence to be tagged may come without tags
        for table, entries in zip((ids, tags), pair, strict=True):
            for place, entry in enumerate(entries):
                table[row, place] = entry
    return ids, lengths, tags


def reference_token_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Average log(sum of exp(logits)) - logit of the right tag over real tokens; 0 for none.

    Args:
        logits: (B, T, C).
        tags: (B, T), -100 at padding.

    """
    real = tags != IGNORED
    kept = logits[real]  # (N, C)
    right = kept.gather(1, tags[real].unsqueeze(1)).squeeze(1)
    surprise = kept.logsumexp(1) - right
    return surprise.mean() if len(kept) else kept.sum()

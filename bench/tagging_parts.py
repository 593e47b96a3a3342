"""The pieces of lesson 06 that students write, for measurements: short, plain, and tested."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.fit import Batch

Pair = tuple[list[int], list[int]]  # ids and tags of a sentence
NO_TAG = -100


def build_vocab(sentences: Sequence[Sequence[str]], min_count: int = 1) -> dict[str, int]:
    """Number the words from 2 on, by falling count, ties by the alphabet."""
    counts = Counter(chain.from_iterable(sentences))
    kept = sorted((-n, word) for word, n in counts.items() if n >= min_count)
    return {word: index for index, word in enumerate(["<pad>", "<unk>", *(w for _, w in kept)])}


def collate(batch: Sequence[Pair]) -> Batch:
    """Pad pairs of ids and tags to tensors (B, T), with the lengths (B,)."""
    lengths = torch.tensor([len(ids) for ids, _ in batch])
    ids = [torch.tensor(ids, dtype=torch.long) for ids, _ in batch]
    tags = [torch.tensor(tags, dtype=torch.long) for _, tags in batch]
    pad = nn.utils.rnn.pad_sequence
    return (
        pad(ids, batch_first=True),
        lengths,
        pad(tags, batch_first=True, padding_value=NO_TAG),
    )


def bucket_batches(
    lengths: Sequence[int], max_tokens: int, generator: torch.Generator | None = None
) -> list[list[int]]:
    """Cut sentences sorted by length into batches of at most max_tokens, padding included."""
    ties = torch.randperm(len(lengths), generator=generator).tolist()
    batches: list[list[int]] = []
    for index in sorted(ties, key=lambda i: lengths[i]):
        if not batches or (len(batches[-1]) + 1) * lengths[index] > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]


class Tagger(nn.Module):
    """Word and feature embeddings summed, then positions, encoder and a linear layer."""

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        table = next(encoder.embedding.parameters())
        self.features = nn.ModuleList(
            type(encoder.embedding)(size, table.shape[1]) for size in feature_sizes
        )
        self.to_tags = nn.Linear(table.shape[1], n_tags)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Ids (B, T) and features (B, T, F) -> logits (B, T, n_tags)."""
        if mask is None:
            mask = (ids != self.encoder.padding_idx).unsqueeze(1)
        x = self.encoder.embedding(ids)
        for column, table in enumerate(self.features):
            assert features is not None
            x = x + table(features[..., column])
        logits: Tensor = self.to_tags(self.encoder.encode(self.encoder.positions(x), mask))
        return logits


def train_step(  # noqa: PLR0917 (these are the exercise's arguments)
    model: nn.Module,
    batch: Batch,
    optimizer: torch.optim.Optimizer,
    scheduler: Any,
    device: torch.device,
    clip: float = 1.0,
) -> float:
    """One step of training; autocast to bf16 on CUDA."""
    model.train()
    ids, tags = batch[0].to(device), batch[2].to(device)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=NO_TAG)
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    scheduler.step()
    return loss.item()


@torch.no_grad()
def tag_sentences(
    model: nn.Module,
    sentences: Sequence[Sequence[str]],
    vocab: dict[str, int],
    tags: Sequence[str],
    batch_size: int = 32,
) -> list[list[str]]:
    """Give the most likely tag of every word."""
    device, mode = next(model.parameters()).device, model.training
    model.eval()
    guesses: list[list[str]] = [[] for _ in sentences]
    order = sorted(
        (i for i, words in enumerate(sentences) if words), key=lambda i: len(sentences[i])
    )
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        rows = [[vocab.get(word, 1) for word in sentences[i]] for i in chosen]
        ids = collate([(row, row) for row in rows])[0].to(device)
        for i, best in zip(chosen, model(ids).argmax(-1).tolist(), strict=True):
            guesses[i] = [tags[tag] for tag in best[: len(sentences[i])]]
    model.train(mode)
    return guesses

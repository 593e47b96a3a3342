"""A small tagging task, and attentions with a fault, to see whether accuracy shows a fault.

A sentence begins with one of four topic words. Most words always have the same tag; one word in
five is ambiguous, and its tag depends on the topic. Ids as everywhere: 0 is padding, 1 unknown.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.lookups import fit

PAD, FIRST_TOPIC, N_TOPICS, N_TAGS = 0, 2, 4, 6
FIRST_WORD, N_WORDS, N_AMBIGUOUS = FIRST_TOPIC + N_TOPICS, 60, 12
SHORTEST, LONGEST = 5, 12  # words of a sentence, its topic included
NO_TAG = -100

Fault = Literal["heads cut by view", "softmax over queries", "mask ignored"]


@dataclass(frozen=True)
class TopicBatch:
    """Sentences with their tags.

    Attributes:
        ids: (B, T), padded at the end.
        tags: (B, T), -100 under padding.
        ambiguous: (B, T), True where the word alone does not decide.

    """

    ids: Tensor
    tags: Tensor
    ambiguous: Tensor


def topic_batch(size: int, seed: int | torch.Generator) -> TopicBatch:
    """Draw sentences of 5 to 12 words, from a seed or from a generator to go on with."""
    generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
    shape = (size, LONGEST)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (size, 1), generator=generator)
    ids = torch.randint(FIRST_WORD, FIRST_WORD + N_WORDS, shape, generator=generator)
    topic = torch.randint(N_TOPICS, (size, 1), generator=generator)
    ids[:, :1] = FIRST_TOPIC + topic
    real = torch.arange(LONGEST) < lengths
    ambiguous = (ids >= FIRST_WORD) & (ids < FIRST_WORD + N_AMBIGUOUS) & real
    tags = (ids + topic * ambiguous) % N_TAGS
    return TopicBatch(ids * real, tags.masked_fill(~real, NO_TAG), ambiguous)


class TopicTagger(nn.Module):
    """Embeddings of words and places, one attention with a residual, a linear layer.

    Args:
        attention: called as (x, x, x, mask) -> (output, weights).
        d_model: D, what the attention takes and gives.

    """

    def __init__(self, attention: nn.Module, d_model: int = 32) -> None:
        super().__init__()
        self.attention = attention
        self.word = nn.Embedding(FIRST_WORD + N_WORDS, d_model, padding_idx=PAD)
        self.place = nn.Embedding(LONGEST, d_model)
        self.tag = nn.Linear(d_model, N_TAGS)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> logits (B, T, tags)."""
        x = self.word(ids) + self.place.weight[: ids.shape[1]]
        mask = (ids != PAD).unsqueeze(1)
        logits: Tensor = self.tag(x + self.attention(x, x, x, mask)[0])
        return logits


class FaultyAttention(nn.Module):
    """Multi-head attention with one fault, on purpose.

    Args:
        d_model: D.
        n_heads: H.
        fault: what is wrong.

    """

    def __init__(self, d_model: int, n_heads: int, fault: Fault) -> None:
        super().__init__()
        self.n_heads, self.fault = n_heads, fault
        self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Take what the right attention takes, and give results of the same shapes."""
        q, k, v = self._cut(self.w_q(query)), self._cut(self.w_k(key)), self._cut(self.w_v(value))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if self.fault != "mask ignored":
            scores = scores.masked_fill(~mask.unsqueeze(1), -1e9)
        weights = scores.softmax(-2 if self.fault == "softmax over queries" else -1)
        return self.w_o(self._join(weights @ v)), weights

    def _cut(self, x: Tensor) -> Tensor:
        if self.fault == "heads cut by view":
            return x.view(len(x), self.n_heads, x.shape[1], -1)
        return torch.stack(x.chunk(self.n_heads, -1), 1)

    def _join(self, x: Tensor) -> Tensor:
        if self.fault == "heads cut by view":
            return x.reshape(len(x), x.shape[2], -1)
        return torch.cat(x.unbind(1), -1)


def train_tagger(model: TopicTagger, seed: int, steps: int = 250) -> None:
    """Train in place on batches of 32 sentences."""

    def loss(generator: torch.Generator) -> Tensor:
        batch = topic_batch(32, generator)
        return F.cross_entropy(model(batch.ids).flatten(0, 1), batch.tags.flatten())

    fit(model, loss, seed, steps)


@torch.no_grad()
def tagging_accuracy(model: TopicTagger, batch: TopicBatch) -> tuple[float, float]:
    """Share of words with the right tag: of all words, and of the ambiguous ones."""
    right = (model(batch.ids).argmax(-1) == batch.tags).float()
    return right[batch.tags != NO_TAG].mean().item(), right[batch.ambiguous].mean().item()


@torch.no_grad()
def change_by_padding(model: TopicTagger, batch: TopicBatch) -> float:
    """Largest change of a sentence's logits when it stands alone instead of in the padded batch."""
    together = model(batch.ids)
    changes: list[float] = []
    for logits, ids in zip(together, batch.ids, strict=True):
        length = int((ids != PAD).sum())
        alone = model(ids[None, :length])[0]
        changes.append(float((alone - logits[:length]).abs().max()))
    return max(changes)

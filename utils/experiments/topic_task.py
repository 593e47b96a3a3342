"""A small tagging task, to see whether accuracy reveals a fault in attention.

A sentence begins with one of four topic words. Most words always have the same tag; one word in
five is ambiguous, and its tag depends on the topic. As everywhere, id 0 is padding, 1 unknown.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.experiments.train import train

PAD, FIRST_TOPIC, N_TOPICS, N_TAGS = 0, 2, 4, 6
FIRST_WORD, N_WORDS, N_AMBIGUOUS = FIRST_TOPIC + N_TOPICS, 60, 12
SHORTEST, LONGEST = 5, 12  # words in a sentence, including its topic
NO_TAG = -100


@dataclass(frozen=True)
class TopicBatch:
    """Sentences with their tags.

    Attributes:
        ids: (B, T), padded at the end.
        tags: (B, T), -100 at padding.
        ambiguous: (B, T), True where the word alone does not decide the tag.

    """

    ids: Tensor
    tags: Tensor
    ambiguous: Tensor


def topic_batch(size: int, seed: int | torch.Generator) -> TopicBatch:
    """Draw sentences of 5 to 12 words, from a seed or from an existing generator."""
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
    """Embeddings of words and positions, one attention with a residual, and a linear layer.

    Args:
        attention: called as (x, x, x, mask) -> (output, weights).
        d_model: D, the attention's input and output width.

    """

    def __init__(self, attention: nn.Module, d_model: int = 32) -> None:
        super().__init__()
        self.attention = attention
        self.word = nn.Embedding(FIRST_WORD + N_WORDS, d_model, padding_idx=PAD)
        self.place = nn.Embedding(LONGEST, d_model)
        self.tag = nn.Linear(d_model, N_TAGS)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, T, tags)."""
        x = self.word(ids) + self.place.weight[: ids.shape[1]]
        mask = (ids != PAD).unsqueeze(1)
        logits: Tensor = self.tag(x + self.attention(x, x, x, mask)[0])
        return logits


def train_tagger(model: TopicTagger, seed: int, steps: int = 250) -> None:
    """Train the model in place on batches of 32 sentences."""

    def loss(generator: torch.Generator) -> Tensor:
        batch = topic_batch(32, generator)
        return F.cross_entropy(model(batch.ids).flatten(0, 1), batch.tags.flatten())

    train(model, loss, steps=steps, seed=seed, falling=2)


@torch.no_grad()
def tagging_accuracy(model: TopicTagger, batch: TopicBatch) -> tuple[float, float]:
    """Return the share of words with the right tag, of all words and of the ambiguous ones."""
    right = (model(batch.ids).argmax(-1) == batch.tags).float()
    return right[batch.tags != NO_TAG].mean().item(), right[batch.ambiguous].mean().item()


@torch.no_grad()
def change_by_padding(model: TopicTagger, batch: TopicBatch) -> float:
    """Return the largest change in a sentence's logits when it is taken out of the padded batch."""
    together = model(batch.ids)
    changes: list[float] = []
    for logits, ids in zip(together, batch.ids, strict=True):
        length = int((ids != PAD).sum())
        alone = model(ids[None, :length])[0]
        changes.append(float((alone - logits[:length]).abs().max()))
    return max(changes)

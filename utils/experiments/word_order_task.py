"""A task that cannot be solved without word order, and a small tagger for trying out positions.

The word two places back decides a word's tag. A tagger that does not know where words are can only
guess.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.experiments.train import train as train_model

FIRST_WORD, N_WORDS, N_TAGS = 2, 16, 4  # ids 0 and 1 are padding and "unknown"
VOCABULARY = FIRST_WORD + N_WORDS
BACK = 2  # how many places back the deciding word is
NO_TAG = -100  # the first words have nothing to look back at; cross-entropy skips this tag
STEPS, MEASURE_EVERY = 200, 20
BATCH, LENGTH, RATE = 32, 16, 1e-2


@dataclass(frozen=True)
class Sentences:
    """Random sentences with their tags.

    Attributes:
        words: ids (B, T).
        tags: (B, T), from 0 to N_TAGS - 1; NO_TAG for the first BACK words.

    """

    words: Tensor
    tags: Tensor


def look_back_sentences(n: int, length: int, seed: int | torch.Generator) -> Sentences:
    """Draw sentences in which a word's tag is the group of the word two places before it.

    Args:
        n: number of sentences.
        length: words in each, more than BACK.
        seed: a seed, or an existing generator to draw from.

    Raises:
        ValueError: the sentences are too short for any tag.

    """
    if length <= BACK:
        raise ValueError(f"sentences need more than {BACK} words, not {length}")
    generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
    words = torch.randint(FIRST_WORD, VOCABULARY, (n, length), generator=generator)
    tags = torch.full_like(words, NO_TAG)
    tags[:, BACK:] = words[:, :-BACK] % N_TAGS
    return Sentences(words, tags)


class OrderTagger(nn.Module):
    """One single-head self-attention over the sentence, then a guess for each word.

    Args:
        words: module, ids (B, T) -> vectors (B, T, D).
        d_model: D.
        positions: module, (B, T, D) -> (B, T, D), applied to the words; None for no positions.
        rotate: function, (B, 1, T, D) -> the same shape, applied to queries and keys.
        bias: function, T -> (1, T, T), added to the scores.

    """

    def __init__(
        self,
        words: nn.Module,
        d_model: int,
        positions: nn.Module | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
        bias: Callable[[int], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.words = words
        self.positions = positions or nn.Identity()
        self.rotate = rotate
        self.bias = bias
        self.queries_keys_values = nn.Linear(d_model, 3 * d_model)
        self.mix = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.guess = nn.Linear(d_model, N_TAGS)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the tags: ids (B, T) -> (B, T, N_TAGS)."""
        x, weights, values = self._look(ids)
        scores: Tensor = self.guess(self.norm(x + self.mix(weights @ values)))
        return scores

    def attention(self, ids: Tensor) -> Tensor:
        """Return the attention weights: ids (B, T) -> (B, T, T), whose rows sum to one."""
        return self._look(ids)[1]

    def _look(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.positions(self.words(ids))
        q, k, v = self.queries_keys_values(x).unsqueeze(1).chunk(3, -1)  # (B, 1, T, D) each
        if self.rotate is not None:
            q, k = self.rotate(q), self.rotate(k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.bias is not None:
            scores = scores + self.bias(x.shape[1])
        weights = scores.softmax(-1)
        return x, weights.squeeze(1), v.squeeze(1)


@torch.no_grad()
def redraw(words: nn.Module, std: float) -> None:
    """Redraw a word table from N(0, std^2), and clear the padding row, id 0.

    Args:
        words: module whose only parameter is the table (V, D); changed in place.
        std: standard deviation of each entry.

    """
    (table,) = words.parameters()
    nn.init.normal_(table, std=std)[0] = 0.0


def train(
    tagger: OrderTagger,
    seed: int,
    steps: int = STEPS,
    *,
    rate: float = RATE,
    every: int = MEASURE_EVERY,
    left_out: Sequence[int] = (),
) -> list[float]:
    """Train on fresh sentences of LENGTH words; return the accuracy every `every` steps.

    Args:
        tagger: trained in place.
        seed: decides every batch.
        steps: number of batches.
        rate: learning rate.
        every: steps between two measurements.
        left_out: positions whose tags are never shown; the words there are.

    """
    curve: list[float] = []

    def loss(generator: torch.Generator) -> Tensor:
        batch = look_back_sentences(BATCH, LENGTH, generator)
        tags = batch.tags.index_fill(1, torch.tensor(left_out, dtype=torch.long), NO_TAG)
        return F.cross_entropy(tagger(batch.words).flatten(0, 1), tags.flatten())

    def measure(step: int) -> None:
        if step % every == 0:
            curve.append(accuracy(tagger, LENGTH))

    train_model(tagger, loss, steps=steps, seed=seed, rate=rate, after=measure)
    return curve


@torch.no_grad()
def hits(tagger: OrderTagger, length: int, n: int = 128, seed: int = 12345) -> Tensor:
    """Return the share of words tagged correctly per place, on new sentences: (length - BACK,)."""
    batch = look_back_sentences(n, length, seed)
    right = tagger(batch.words).argmax(-1) == batch.tags
    shares: Tensor = right[:, BACK:].float().mean(0)
    return shares


def accuracy(tagger: OrderTagger, length: int) -> float:
    """Return the share of words with a tag that are tagged correctly, on new sentences."""
    return float(hits(tagger, length).mean())

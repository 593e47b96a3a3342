"""A recurrent encoder-decoder for experiments, with a place to plug in an attention."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.experiments.reversal_task import BOS, PAD, SequenceBatch
from utils.experiments.train import train as train_model

AdditiveScores = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
Attend = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
Look = tuple[Tensor, Tensor]  # context (B, D) and weights (B, S)


class AdditiveAttention(nn.Module):
    """Bahdanau's attention; the arithmetic is yours.

    Args:
        additive_scores: (query, keys, w_q, w_k, v) -> scores (B, S).
        attend: (scores, values, mask) -> (context, weights).
        d_model: entries of a query and of a key.
        size: A, units of the small scoring network.

    """

    def __init__(
        self, additive_scores: AdditiveScores, attend: Attend, d_model: int = 64, size: int = 32
    ) -> None:
        super().__init__()
        self.additive_scores = additive_scores
        self.attend = attend
        self.w_q = nn.Parameter(torch.randn(size, d_model) / d_model**0.5)
        self.w_k = nn.Parameter(torch.randn(size, d_model) / d_model**0.5)
        self.v = nn.Parameter(torch.randn(size) / size**0.5)

    def forward(self, query: Tensor, keys: Tensor, mask: Tensor | None = None) -> Look:
        """Attend with a query (B, D) to keys (B, S, D), which are also the values."""
        scores = self.additive_scores(query, keys, self.w_q, self.w_k, self.v)
        return self.attend(scores, keys, mask)


@dataclass(frozen=True)
class Answer:
    """What a model wrote on its own.

    Attributes:
        tokens: ids (B, T).
        weights: where it looked at each step, (B, T, S); None without attention.

    """

    tokens: Tensor
    weights: Tensor | None


class Seq2Seq(nn.Module):
    """Bidirectional GRU encoder and GRU decoder.

    The decoder starts from the encoder's last states. Without attention, it gets nothing else; with
    attention, it also looks at all encoder states before each step. Use sequences of one length
    within a batch: attention skips padding, but the encoder reads it.

    Args:
        vocab_size: V, number of ids.
        attention: called as (query, keys, mask) -> (context, weights); None for none.
        d_model: entries of a state; even.
        d_embedding: entries of a token's embedding.

    """

    def __init__(
        self,
        vocab_size: int,
        attention: nn.Module | None = None,
        d_model: int = 64,
        d_embedding: int = 32,
    ) -> None:
        super().__init__()
        d_context = d_model if attention is not None else 0
        self.attention = attention
        self.embedding = nn.Embedding(vocab_size, d_embedding, padding_idx=PAD)
        self.encoder = nn.GRU(d_embedding, d_model // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(d_model, d_model)
        self.decoder = nn.GRUCell(d_embedding + d_context, d_model)
        self.to_logits = nn.Linear(d_model + d_context, vocab_size)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits (B, T, V) with teacher forcing: each step sees the right previous token."""
        begin = torch.full_like(target[:, :1], BOS)
        inputs = self.embedding(torch.cat([begin, target[:, :-1]], 1))
        states, state = self._encode(source)
        real, seen = source != PAD, []
        for embedded in inputs.unbind(1):
            features, state, _ = self._step(embedded, state, states, real)
            seen.append(features)
        logits: Tensor = self.to_logits(torch.stack(seen, 1))
        return logits

    @torch.no_grad()
    def answer(self, source: Tensor, steps: int) -> Answer:
        """Write T = `steps` tokens; each step sees what the model itself wrote before."""
        states, state = self._encode(source)
        token = torch.full_like(source[:, 0], BOS)
        tokens, looks = [], []
        for _ in range(steps):
            embedded = self.embedding(token)
            features, state, weights = self._step(embedded, state, states, source != PAD)
            token = self.to_logits(features).argmax(-1)
            tokens.append(token)
            looks.append(weights)
        seen = [weights for weights in looks if weights is not None]
        return Answer(torch.stack(tokens, 1), torch.stack(seen, 1) if seen else None)

    def _encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return all states (B, S, D) and the decoder's first state (B, D)."""
        states, last = self.encoder(self.embedding(source))
        both_ends = torch.cat([last[0], last[1]], -1)
        return states, torch.tanh(self.bridge(both_ends))

    def _step(
        self, embedded: Tensor, state: Tensor, states: Tensor, real: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Take one decoder step; return the logits' input, the new state, and weights or None."""
        if self.attention is None:
            state = self.decoder(embedded, state)
            return state, state, None
        context, weights = self.attention(state, states, real)
        state = self.decoder(torch.cat([embedded, context], -1), state)
        return torch.cat([state, context], -1), state, weights


def train(
    model: Seq2Seq,
    batches: Iterable[SequenceBatch],
    steps: int,
    rate: float = 0.01,
    title: str = "",
) -> list[float]:
    """Train with Adam, with a falling rate in the last third of the steps; return the losses.

    Args:
        model: trained in place.
        batches: at least `steps` batches.
        steps: number of updates.
        rate: initial learning rate.
        title: what stands before a bar that shows how far it is; "" shows none.

    Returns:
        Cross-entropy per token at each step, in nats.

    """
    waiting = iter(batches)

    def loss(_: torch.Generator) -> Tensor:
        batch = next(waiting)
        logits = model(batch.source, batch.target)
        return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)

    return train_model(model, loss, steps=steps, rate=rate, falling=3, clip=1.0, title=title).losses

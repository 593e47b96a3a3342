"""A task of two look-ups at once, for experiments with one attention head and with several.

A table has eight drawers with one symbol in each. A question names two different drawers, a first
and a second, and the answer is the symbols in them, in that order.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.experiments.train import train

N_DRAWERS, N_SYMBOLS = 8, 6
QUESTIONS = 4  # about each table


@dataclass(frozen=True)
class LookupBatch:
    """Tables, questions about them, and the answers.

    Attributes:
        table: symbols (B, S), one in each of the S = 8 drawers.
        asked: drawers (B, T, 2), the first and the second of each of T = 4 questions.
        answer: symbols (B, T, 2).

    """

    table: Tensor
    asked: Tensor
    answer: Tensor


def lookup_batch(size: int, seed: int | torch.Generator) -> LookupBatch:
    """Draw `size` tables with their questions, from a seed or from an existing generator."""
    generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
    table = torch.randint(N_SYMBOLS, (size, N_DRAWERS), generator=generator)
    first = torch.randint(N_DRAWERS, (size, QUESTIONS), generator=generator)
    further = torch.randint(1, N_DRAWERS, (size, QUESTIONS), generator=generator)
    second = (first + further) % N_DRAWERS  # never the same drawer
    answer = torch.stack([table.gather(1, first), table.gather(1, second)], -1)
    return LookupBatch(table, torch.stack([first, second], -1), answer)


class LookupModel(nn.Module):
    """One attention from questions to drawers, and a linear layer that reads off the answer.

    A drawer is the sum of two embeddings, of its number and of its symbol; a question is the sum
    of two more, of its first and of its second drawer.

    Args:
        attention: called as (query, key, value) -> (output, weights).
        d_model: D, the attention's input and output width.
        hidden: units of a hidden layer before the answer; 0 for none.

    """

    def __init__(self, attention: nn.Module, d_model: int = 32, hidden: int = 0) -> None:
        super().__init__()
        self.attention = attention
        self.number = nn.Embedding(N_DRAWERS, d_model)
        self.symbol = nn.Embedding(N_SYMBOLS, d_model)
        self.asked = nn.ModuleList(nn.Embedding(N_DRAWERS, d_model) for _ in range(2))
        wide = hidden or d_model
        between = nn.Sequential(nn.Linear(d_model, wide), nn.ReLU()) if hidden else nn.Identity()
        self.answer = nn.Sequential(between, nn.Linear(wide, 2 * N_SYMBOLS))

    def forward(self, batch: LookupBatch) -> tuple[Tensor, Tensor]:
        """Return logits (B, T, 2, symbols) and attention weights (B, H, T, S)."""
        drawers = self.symbol(batch.table) + self.number.weight
        questions = self.asked[0](batch.asked[..., 0]) + self.asked[1](batch.asked[..., 1])
        output, weights = self.attention(questions, drawers, drawers)
        return self.answer(output).unflatten(-1, (2, N_SYMBOLS)), weights


def train_lookups(model: LookupModel, seed: int, steps: int = 250) -> None:
    """Train the model in place on batches of 32 tables."""

    def loss(generator: torch.Generator) -> Tensor:
        batch = lookup_batch(32, generator)
        return F.cross_entropy(model(batch)[0].flatten(0, 2), batch.answer.flatten())

    train(model, loss, steps=steps, seed=seed, falling=2)


@torch.no_grad()
def lookup_accuracy(model: LookupModel, batch: LookupBatch) -> tuple[float, float, float]:
    """Return the share of questions whose first symbol, second symbol, and both are right."""
    right = model(batch)[0].argmax(-1) == batch.answer
    first, second = right.float().mean((0, 1)).tolist()
    return first, second, right.all(-1).float().mean().item()

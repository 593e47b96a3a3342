"""A made-up task for experiments: reversing sequences of symbols.

Ids 0 and 1 are padding and "unknown", as everywhere in the course; 2 begins a sequence, 3 ends
one, and the symbols follow. Every batch comes from a seed or generator that the caller gives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

PAD, UNK, BOS, EOS = 0, 1, 2, 3
FIRST_SYMBOL = 4


@dataclass(frozen=True)
class SequenceBatch:
    """Pairs of sequences, padded at the end.

    Attributes:
        source: ids (B, S).
        target: ids (B, S + 1): the right answer, then the end token.

    """

    source: Tensor
    target: Tensor


def vocabulary_size(n_symbols: int) -> int:
    """Return the number of ids for so many symbols, including padding, unknown, begin and end."""
    return FIRST_SYMBOL + n_symbols


def reversal_batch(
    lengths: Sequence[int], seed: int | torch.Generator, n_symbols: int = 16
) -> SequenceBatch:
    """Draw random sequences and their reversals: a b c -> c b a <end>.

    Args:
        lengths: length of each sequence, at least 1.
        seed: a seed, or an existing generator to draw from.
        n_symbols: number of different symbols.

    Raises:
        ValueError: a length is below 1.

    """
    if min(lengths) < 1:
        raise ValueError(f"every length must be at least 1, not {min(lengths)}")
    generator = torch.Generator().manual_seed(seed) if isinstance(seed, int) else seed
    shape = (len(lengths), max(lengths))
    source = torch.randint(FIRST_SYMBOL, vocabulary_size(n_symbols), shape, generator=generator)
    last = torch.tensor(lengths).unsqueeze(1)
    source[torch.arange(shape[1]) >= last] = PAD
    return SequenceBatch(source, _reversed(source, last))


def growing_batches(
    length: int, steps: int, batch_size: int, seed: int, n_symbols: int = 16
) -> Iterator[SequenceBatch]:
    """Yield training batches that begin with short sequences and reach full length by four fifths.

    A model that has learned to reverse three symbols learns ten much faster than one that begins
    with ten, and short batches cost less.

    Args:
        length: length of the sequences at the end.
        steps: number of batches.
        batch_size: sequences in each batch, all of one length.
        seed: decides every batch.
        n_symbols: number of different symbols.

    """
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        now = min(length, 2 + round(1.25 * length * step / steps))
        yield reversal_batch([now] * batch_size, generator, n_symbols)


def token_hits(predicted: Tensor, target: Tensor) -> Tensor:
    """Return which symbols are right: booleans (B, S), True at padding and end tokens.

    Args:
        predicted: ids (B, S) or longer; anything after S is ignored.
        target: ids (B, S + 1) of a batch, the end token last.

    """
    wanted = target[:, :-1]
    right = predicted[:, : wanted.shape[1]] == wanted
    return right | (wanted == PAD) | (wanted == EOS)


def token_accuracy(predicted: Tensor, target: Tensor) -> float:
    """Return the share of symbols that are right, 0 to 1; padding and end tokens do not count."""
    wanted = target[:, :-1]
    real = (wanted != PAD) & (wanted != EOS)
    return token_hits(predicted, target)[real].float().mean().item()


def sequence_accuracy(predicted: Tensor, target: Tensor) -> float:
    """Return the share of sequences in which every symbol is right, from 0 to 1."""
    return token_hits(predicted, target).all(1).float().mean().item()


def _reversed(source: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each row's real part and put the end token after it."""
    place = lengths - 1 - torch.arange(source.shape[1])  # (B, S), negative at padding
    mirrored = source.gather(1, place.clamp(min=0)).masked_fill(place < 0, PAD)
    target = torch.nn.functional.pad(mirrored, (0, 1), value=PAD)
    return target.scatter(1, lengths, EOS)

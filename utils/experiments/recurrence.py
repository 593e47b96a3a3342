"""Recurrent readers, small tasks and measurements for lesson 01's experiments."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from utils.experiments.reversal_task import PAD
from utils.experiments.seq2seq import Seq2Seq
from utils.experiments.train import Progress, train

Forward = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
Pair = tuple[Tensor, Tensor]  # inputs (B, T, I) and the symbols to name (B, N)
Step = Callable[[int, Tensor], tuple[Tensor, Tensor]]


def turning_matrix(size: int, radius: float = 1.0) -> Tensor:
    """Draw a matrix (size, size) that turns every vector and stretches it by exactly `radius`.

    All its eigenvalues have this absolute value, which is the matrix's spectral radius.
    """
    turn: Tensor = torch.linalg.qr(torch.randn(size, size))[0].contiguous()
    return turn * radius


class RecurrentReader(nn.Module):
    """A tanh network that reads a sequence; the arithmetic is yours.

    Args:
        rnn_forward: (x, h_0, w_x, w_h, b) -> (states, h_T).
        n_inputs: I, entries of an input.
        n_units: Hd, entries of a state.
        radius: spectral radius of the recurrent matrix before training.

    """

    def __init__(
        self, rnn_forward: Forward, n_inputs: int, n_units: int, radius: float = 1.0
    ) -> None:
        super().__init__()
        self.rnn_forward = rnn_forward
        self.n_units = n_units
        self.w_x = nn.Parameter(0.3 * torch.randn(n_units, n_inputs))
        self.w_h = nn.Parameter(turning_matrix(n_units, radius))
        self.b = nn.Parameter(torch.zeros(n_units))

    def forward(self, x: Tensor) -> Tensor:
        """Read x (B, T, I) from a state of zeros and return the last state (B, Hd)."""
        return self._read(x)[1]

    @torch.no_grad()
    def states(self, x: Tensor) -> Tensor:
        """Read x (B, T, I) from a state of zeros and return all states (B, T, Hd)."""
        return self._read(x)[0]

    def _read(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h_0 = x.new_zeros(len(x), self.n_units)
        return self.rnn_forward(x, h_0, self.w_x, self.w_h, self.b)


def different_ends(reader: RecurrentReader, length: int, n_symbols: int = 8) -> int:
    """Count the different states in which a reader ends after one symbol and then silence.

    Args:
        reader: x (B, T, I) -> last state (B, Hd), with I = n_symbols.
        length: T, the symbol's step included.
        n_symbols: number of symbols; if the reader keeps all apart, it is what comes back.

    """
    symbols = torch.eye(n_symbols).unsqueeze(1)  # (B, 1, I), each once
    ends = reader.states(F.pad(symbols, (0, 0, 0, length - 1)))[:, -1]  # (B, Hd)
    return len({tuple(end) for end in ends.round(decimals=1).tolist()})  # not rounding


class LSTMReader(nn.Module):
    """Torch's LSTM as a reader.

    Args:
        n_inputs: I, entries of an input.
        n_units: Hd, entries of a state.
        forget_bias: bias of the forget gates before training; by default torch's own, random
            numbers around zero.

    """

    def __init__(self, n_inputs: int, n_units: int, forget_bias: float | None = None) -> None:
        super().__init__()
        self.n_units = n_units
        self.lstm = nn.LSTM(n_inputs, n_units, batch_first=True)
        if forget_bias is not None:
            biases = dict(self.lstm.named_parameters())
            with torch.no_grad():  # torch stacks the input, forget, cell and output gates
                biases["bias_ih_l0"][n_units : 2 * n_units] = forget_bias
                biases["bias_hh_l0"][n_units : 2 * n_units] = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """Read x (B, T, I) and return the last state (B, Hd)."""
        last: Tensor = self.lstm(x)[1][0][0]
        return last


class Namer(nn.Module):
    """A model that names N symbols from a reader's last state alone.

    Args:
        reader: x (B, T, I) -> last state (B, Hd); has `n_units`.
        n_answers: N.
        n_symbols: V, number of different symbols.

    """

    def __init__(
        self, reader: RecurrentReader | LSTMReader, n_answers: int, n_symbols: int = 8
    ) -> None:
        super().__init__()
        self.reader = reader
        self.shape = (n_answers, n_symbols)
        self.to_logits = nn.Linear(reader.n_units, n_answers * n_symbols)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, N, V)."""
        logits: Tensor = self.to_logits(self.reader(x))
        return logits.view(len(x), *self.shape)


def draw_copying(
    generator: torch.Generator, length: int, size: int = 64, n_symbols: int = 8
) -> Pair:
    """Draw random symbols, one-hot (size, length, n_symbols), all of which are to be named."""
    symbols = torch.randint(n_symbols, (size, length), generator=generator)
    return F.one_hot(symbols, n_symbols).float(), symbols


def draw_recall(
    generator: torch.Generator, length: int, noise: float, size: int = 64, n_symbols: int = 8
) -> Pair:
    """Draw one symbol to name, then noise of the given standard deviation for length - 1 steps."""
    first, symbol = draw_copying(generator, 1, size, n_symbols)
    rest = noise * torch.randn(size, length - 1, n_symbols, generator=generator)
    return torch.cat([first, rest], 1), symbol


def train_namer(
    model: Namer,
    draw: Callable[[torch.Generator], Pair],
    *,
    steps: int,
    seed: int,
    rate: float = 0.01,
    clip: float = torch.inf,
    method: Callable[..., Any] = torch.optim.Adam,
) -> Progress:
    """Train the model in place.

    Args:
        model: the model to train.
        draw: generator -> a batch.
        steps: number of updates.
        seed: decides every batch.
        rate: the learning rate.
        clip: norm to which longer gradients are shortened.
        method: class of the optimiser.

    """

    def loss(generator: torch.Generator) -> Tensor:
        x, symbols = draw(generator)
        return F.cross_entropy(model(x).flatten(0, 1), symbols.flatten())

    return train(model, loss, steps=steps, seed=seed, rate=rate, clip=clip, method=method)


@torch.no_grad()
def share_right(model: Namer, batch: Pair) -> Tensor:
    """Return the share of sequences (N,) in which each of the N symbols is named correctly."""
    x, symbols = batch
    shares: Tensor = (model(x).argmax(-1) == symbols).float().mean(0)
    return shares


def input_gradients(reader: nn.Module, x: Tensor) -> Tensor:
    """Measure how much the last state depends on each input.

    Args:
        reader: x (B, T, I) -> last state (B, Hd).
        x: (B, T, I).

    Returns:
        (T,): 2-norm over batch and entries of d(sum of the last state) / d x_t.

    """
    leaf = x.detach().clone().requires_grad_()
    norms: Tensor = torch.autograd.grad(reader(leaf).sum(), leaf)[0].norm(dim=(0, 2))
    return norms


def longest_chain(result: Tensor) -> int:
    """Count the operations that had to run one after another to give this result.

    Args:
        result: a tensor that autograd recorded.

    Returns:
        Number of operations on the longest path through the recorded graph; 0 if nothing was
        recorded.

    """
    depth: dict[Any, int] = {}
    waiting = [result.grad_fn]
    while waiting:
        node = waiting[-1]
        before = [] if node is None else [n for n, _ in node.next_functions if n is not None]
        unknown = [n for n in before if n not in depth]
        if unknown:
            waiting += unknown
            continue
        waiting.pop()
        if node is not None:
            depth[node] = 1 + max((depth[n] for n in before), default=0)
    return depth.get(result.grad_fn, 0)


@torch.no_grad()
def first_state(model: Seq2Seq, source: Tensor) -> Tensor:
    """Encode sources (B, S): the encoder's last states become the decoder's first state (B, D)."""
    _, last = model.encoder(model.embedding(source))
    both_ends = torch.cat([last[0], last[1]], -1)
    return torch.tanh(model.bridge(both_ends))


def decoder_step(model: Seq2Seq) -> Step:
    """Return the model's decoder as a function of one token and a state (1, D)."""

    @torch.no_grad()
    def step(token: int, state: Tensor) -> tuple[Tensor, Tensor]:
        state = model.decoder(model.embedding(torch.tensor([token])), state)
        return model.to_logits(state)[0], state

    return step


@torch.no_grad()
def teacher_forced(model: Seq2Seq, source: Tensor, inputs: Tensor) -> Tensor:
    """Return the tokens (B, T) that the model writes when it reads the given tokens (B, T)."""
    state, written = first_state(model, source), []
    for token in inputs.unbind(1):
        state = model.decoder(model.embedding(token), state)
        written.append(model.to_logits(state).argmax(-1))
    return torch.stack(written, 1)


def as_batch(answers: Sequence[Sequence[int]], length: int) -> Tensor:
    """Put lists of tokens into one tensor (B, length), cut or padded at their ends."""
    rows = [[*answer[:length], *[PAD] * (length - len(answer))] for answer in answers]
    return torch.tensor(rows)

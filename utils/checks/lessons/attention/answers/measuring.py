"""How far a gradient reaches: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES

Run = Callable[[Tensor], Tensor]
Change = Callable[[Tensor], Tensor]
# Not torch.func's: those load torch's compiler, which takes a second and 60 MiB.
_jacobian: Callable[..., Tensor] = torch.autograd.functional.jacobian


def _same(x: Tensor) -> Tensor:
    return x


def reach_oracle(run: Run, x: Tensor) -> Tensor:
    """Take the rows of torch's Jacobian, sentence by sentence."""
    jacobian = _jacobian(lambda x: run(x)[:, -1].sum(-1), x)  # (B, B, T, D)
    own = jacobian.diagonal(dim1=0, dim2=1).permute(2, 0, 1)  # (B, T, D)
    norms: Tensor = torch.linalg.vector_norm(own, dim=-1).mean(0)
    return norms


@by_choices
def _reach(
    *,
    end: Change = lambda y: y[:, -1],
    size: Change = lambda g: g.norm(dim=-1),
    over_batch: Change = lambda norms: norms.mean(0),
    finish: Change = _same,
    times_x: bool = False,
    leaves: bool = False,
    copied: bool = False,
    switched: bool = False,
) -> Any:
    """Build gradient_by_distance with the given choices.

    Args:
        end: (B, T, D) -> the outputs that are asked.
        size: (B, T, D) of gradients -> their sizes, (B, T).
        over_batch: (B, T) -> (T,).
        finish: applied in the end.
        times_x: whether the gradient is multiplied by x.
        leaves: whether the gradients stay where backward puts them.
        copied: whether x is a copy of the caller's.
        switched: whether the caller's x asks for gradients no more at the end.

    """

    def measured(run: Run, x: Tensor) -> Tensor:
        if switched:
            x.requires_grad_(False)
        if leaves:
            x = x.detach().clone() if copied else x
            torch.autograd.backward(end(run(x.requires_grad_())).sum())
            gradient = x.grad
        else:
            x = x.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(end(run(x)).sum(), x)
        assert gradient is not None
        return finish(over_batch(size(gradient * x if times_x else gradient))).detach()

    return measured


def _own_outputs(run: Run, x: Tensor) -> Tensor:
    """Differentiate the output at each position by the input at that position."""
    own = [_reach(end=lambda y, t=t: y[:, t])(run, x)[t] for t in range(x.shape[1])]
    return torch.stack(own)


def _jacobian_norms(run: Run, x: Tensor) -> Tensor:
    """Take the norm of all derivatives of the last output's entries, one by one."""
    rows = _jacobian(lambda x: run(x)[:, -1].sum(0), x)  # (D, B, T, D)
    return rows.square().sum((0, 3)).sqrt().mean(0)


def _left_out(size: Change) -> Any:
    """Set one input at a time to zero, and take the size of the last output's change."""

    def changes(run: Run, x: Tensor) -> Tensor:
        with torch.no_grad():
            whole, steps = run(x)[:, -1], torch.eye(x.shape[1], dtype=x.dtype)
            moved = [run(x * (1 - step)[:, None])[:, -1] - whole for step in steps]
            return torch.stack([size(change).mean() for change in moved])

    return changes


_ONE_OUTPUT = "The exercise asks about one output only: the one at the last position."
_PER_WORD = "Each x_t has D entries: the norm runs over the last axis and leaves one number per t."
_BATCH = "One number for each t: the mean over the sentences of the batch."
REACH = tuple(
    Mistake(name, message, hint, _reach(**choices))
    for name, choices, message, hint in (
        (
            "all_outputs",
            {"end": _same},
            "All outputs are differentiated, so each position counts for itself too.",
            _ONE_OUTPUT,
        ),
        (
            "first_output",
            {"end": lambda y: y[:, 0]},
            "The first output is differentiated, not the last.",
            _ONE_OUTPUT,
        ),
        (
            "mean_of_the_output",
            {"end": lambda y: y[:, -1] / y[:, -1].numel()},
            "The mean of the output's entries is differentiated, not their sum.",
            "Add up the entries of the last output; nothing is divided.",
        ),
        (
            "last_sentence",
            {"end": lambda y: y[-1]},
            "The last sentence of the batch is differentiated, not the last position of each.",
            "The first axis is the batch: the positions are the second.",
        ),
        (
            "last_feature",
            {"end": lambda y: y[..., -1]},
            "The last feature of every position is differentiated, not the last position.",
            "The last axis holds the features: the positions are the second.",
        ),
        (
            "summed_entries",
            {"size": lambda g: g.sum(-1)},
            "The entries of the gradient are added, and cancel one another. A norm does not.",
            _PER_WORD,
        ),
        (
            "mean_entry",
            {"size": lambda g: g.abs().mean(-1)},
            "The mean size of an entry is taken, not the norm.",
            _PER_WORD,
        ),
        (
            "summed_sizes",
            {"size": lambda g: g.abs().sum(-1)},
            "The sizes of the entries are added: that is the 1-norm; the 2-norm is asked for.",
            "The 2-norm is the root of the sum of squares.",
        ),
        (
            "squared",
            {"size": lambda g: g.square().sum(-1)},
            "The root of the norm is left out: the squares are added.",
            "A norm is the root of the sum of squares.",
        ),
        (
            "relative_to_the_last",
            {"finish": lambda norms: norms / norms[-1]},
            "The norms are divided by the last one, so the last entry is 1.",
            "Return the norms themselves: the plot sets the last word to 1 where it wants to.",
        ),
        (
            "of_the_norm",
            {"end": lambda y: y[:, -1] * y[:, -1].detach() / y[:, -1].detach().norm()},
            "The norm of the output is differentiated, not the sum of its entries.",
            "First the gradient of the sum, then the norm of that gradient.",
        ),
        (
            "largest_entry",
            {"size": lambda g: g.abs().amax(-1)},
            "The largest entry is taken, not the norm.",
            _PER_WORD,
        ),
        (
            "summed_over_batch",
            {"over_batch": lambda n: n.sum(0)},
            "The sentences' norms are added, so the result grows with the batch.",
            _BATCH,
        ),
        (
            "first_sentence_alone",
            {"over_batch": lambda n: n[0]},
            "Only the first sentence of the batch counts.",
            _BATCH,
        ),
        (
            "divided_by_the_batch_twice",
            {"over_batch": lambda n: n.mean(0) / len(n)},
            "The outputs are averaged over the batch before they are differentiated, and the norms "
            "again after it.",
            "The entries of run(x)[b, -1] are added up: the only mean is that of the norms.",
        ),
        (
            "norm_over_batch",
            {"over_batch": lambda n: n.norm(dim=0)},
            "The norm runs over the batch too, so the result grows with the batch.",
            _BATCH,
        ),
        (
            "mean_before_the_norm",
            {"size": lambda g: g.mean(0, keepdim=True).norm(dim=-1)},
            "The gradients of the sentences are averaged before the norm, and cancel one another.",
            _BATCH,
        ),
        (
            "batch_kept",
            {"over_batch": _same},
            "The result has a row for each sentence: (B, T).",
            _BATCH,
        ),
        (
            "norm_over_positions",
            {"size": lambda g: g.norm(dim=1)},
            "The norm runs over the positions, which leaves a number for each feature: (D,).",
            _PER_WORD,
        ),
        (
            "turned_round",
            {"finish": lambda n: n.flip(0)},
            "The result begins with the last position: it is in order of distance.",
            "Entry t belongs to x_t; the plot works out the distances.",
        ),
        (
            "times_x",
            {"times_x": True},
            "The gradient is multiplied by x. The gradient alone says how much a change of x_t "
            "matters.",
            "Take the gradient as torch gives it.",
        ),
        (
            "asks_no_more",
            {"switched": True},
            "The caller's x asked for gradients before the call and no longer does afterwards.",
            "requires_grad_ changes the caller's tensor. Work on a detached copy of your own.",
        ),
        (
            "left_behind",
            {"leaves": True},
            "backward() leaves gradients in x and in the layer's parameters, to which the next "
            "training step would add.",
            "torch.autograd.grad(result, x) returns the gradient and leaves nothing; work on a "
            "detached copy of x that asks for gradients.",
        ),
        (
            "left_behind_in_the_layer",
            {"leaves": True, "copied": True},
            "x is left alone, but backward() also puts gradients into the layer's parameters, to "
            "which the next training step would add.",
            "torch.autograd.grad(result, x) returns the one gradient and leaves nothing.",
        ),
    )
)

OTHERS = (
    Mistake(
        "own_outputs",
        "Entry t is the gradient of the output at t itself, not of the last one.",
        _ONE_OUTPUT,
        _own_outputs,
    ),
    Mistake(
        "jacobian_norm",
        "The entries of the last output are differentiated one by one, and all derivatives go "
        "into the norm: that is the norm of the Jacobian.",
        "The entries are added up first, and that sum has one gradient.",
        _jacobian_norms,
    ),
    *(
        Mistake(
            name,
            "An input is set to zero, and the change of the output is measured. A gradient is the "
            "response to a small change.",
            "Ask autograd for the gradient of the last output's sum with respect to x.",
            _left_out(size),
        )
        for name, size in (
            ("input_left_out", lambda change: change.norm(dim=-1)),
            ("input_left_out_of_the_sum", lambda change: change.sum(-1).abs()),
        )
    ),
)

EXERCISES = by_id(
    Exercise(PROBES["gradient_by_distance"], reach_oracle, (*REACH, *OTHERS), tolerance=1e-4),
)

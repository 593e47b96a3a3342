"""The probe of lesson 04's table of word vectors."""

from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.calling import require_module
from utils.checks.authoring.defaults import require_defaults
from utils.checks.authoring.swapping import call_with
from utils.checks.exercise import Inputs, Probe, by_exercise, case
from utils.checks.lessons.inputs import Draw
from utils.checks.lessons.positional_encoding.probes.rotary import with_dtype
from utils.checks.observation import AnswerError, ProblemKind


def _embedding_inputs(
    padding_idx: int | None = None,
    dtype: str = "float32",
    again: bool = False,
    train: bool = True,
    **params: Any,
) -> Inputs:
    draw = Draw(padding_idx=padding_idx, **params)
    words, row = params["V"], padding_idx or 0
    table = draw.normal(words, params["D"])
    table[row] = 0.0
    ids = draw.integers(words, params["B"], params["T"])
    ids[0, -1] = row  # padding at the end of the first sentence
    if row:
        ids[-1, 0] = 0  # a word like any other
    settings = {"padding_idx": padding_idx, "dtype": dtype, "again": again, "train": train}
    return {"ids": ids, "table": table, **settings}


def _table_of(module: nn.Module, shape: tuple[int, ...]) -> str:
    """Return the name of the only parameter, whatever it is.

    Raises:
        AnswerError: there is none of this shape, or more than one parameter.

    """
    found = {name: tuple(p.shape) for name, p in module.named_parameters()}
    if list(found.values()) != [shape]:
        # Without names, which are free: two answers with the same fault are told the same.
        shown = ", ".join(map(str, sorted(found.values()))) or "none"
        message = f"It should have one parameter, of shape {shape}; the shapes are: {shown}."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)
    return next(iter(found))


def _call_embedding(answer: Any, i: Inputs) -> dict[str, object]:
    dtype, row = getattr(torch, i["dtype"]), i["padding_idx"] or 0
    sizes = tuple(i["table"].shape)
    if i["padding_idx"] is None:
        require_defaults(answer, padding_idx=0)
    made = answer(*sizes) if i["padding_idx"] is None else answer(*sizes, i["padding_idx"])
    module = require_module(made, "TokenEmbedding").to(dtype).train(i["train"])
    name = _table_of(module, sizes)
    own = dict(module.named_parameters())[name]
    table = _FixedRow.apply(i["table"].to(dtype), row)  # type: ignore[no-untyped-call]
    if i["again"]:  # with another table, whose traces would show in the call below
        for earlier in (i["ids"][:, 1:], i["ids"].flip(1)):
            call_with(module, {name: -i["table"].to(dtype)}, earlier)
    return {
        "the padding row starts at zero": not bool(own[row].any()),
        "the table is trained": own.requires_grad,
        **with_dtype("output", call_with(module, {name: table}, i["ids"])),
        "the padding row stays as it is in a training step": _is_left(module, own, row, i["ids"]),
    }


class _FixedRow(torch.autograd.Function):
    """A table whose padding row takes no gradient: whether it would is asked of a step.

    What comes back to it may be sparse, as nn.Embedding gives it on request.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, row: int) -> Tensor:
        """Copy the table."""
        ctx.row = row
        return table.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Take the row's gradient away."""
        return gradient.to_dense().index_fill(0, torch.tensor(ctx.row), 0.0), None


def _is_left(module: nn.Module, table: nn.Parameter, row: int, ids: Tensor) -> bool:
    """Return whether no gradient reaches a row, hooks of the module included."""
    result = module(ids)
    if not isinstance(result, Tensor) or not result.requires_grad or not table.requires_grad:
        return True
    (found,) = torch.autograd.grad(result.sum(), table, retain_graph=True, allow_unused=True)
    return found is None or not bool(found.to_dense()[row].any())


PROBES = by_exercise(
    Probe(
        "TokenEmbedding",
        _embedding_inputs,
        _call_embedding,
        (
            case("two sentences", required=True, B=2, T=3, V=7, D=4),
            case("one word, odd width", B=1, T=1, V=6, D=5),
            case("padding has another id", B=2, T=6, V=8, D=5, padding_idx=3),
            case("in eval mode", B=2, T=5, V=9, D=3, train=False),
            case("float64", demand="float64", B=3, T=4, V=9, D=6, dtype="float64"),
            case(
                "after calls with other ids",
                demand="calls that do not depend on earlier ones",
                B=2,
                T=4,
                V=7,
                D=5,
                again=True,
            ),
        ),
    ),
)

"""Helpers for probes, which call a student's object and say clearly what does not fit."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.func import functional_call

from utils.checks.authoring.recomputing import without_recomputing
from utils.checks.framework.observation import AnswerError, ProblemKind, describe


def unpack(result: object, *names: str) -> dict[str, object]:
    """Name the parts of a returned tuple.

    Raises:
        AnswerError: the result is not a tuple (or list) of that many parts.

    """
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        kind = ProblemKind.NOTHING if result is None else ProblemKind.RETURN
        wanted = ", ".join(names)
        raise AnswerError(kind, f"It should return ({wanted}), but returned {describe(result)}.")
    return dict(zip(names, result, strict=True))


def require_module(module: object, name: str) -> nn.Module:
    """Check that a class made an ``nn.Module``.

    Raises:
        AnswerError: it made something else.

    """
    if not isinstance(module, nn.Module):
        message = f"{name} should be a class derived from nn.Module, but made {describe(module)}."
        raise AnswerError(ProblemKind.RETURN, message)
    return module


def require_linear(module: nn.Module, name: str, n_in: int, n_out: int, *, bias: bool) -> None:
    """Check that ``module.name`` is an ``nn.Linear`` of the sizes that the stub asks for.

    Raises:
        AnswerError: it is missing, has another type or size, or differs from the stub in its bias.

    """
    layer = getattr(module, name, None)
    if not isinstance(layer, nn.Linear):
        found = "is missing" if layer is None else f"is {describe(layer)}"
        raise AnswerError(ProblemKind.ATTRIBUTE, f"self.{name} {found}; it should be an nn.Linear.")
    sizes = (layer.in_features, layer.out_features)
    if sizes != (n_in, n_out):
        wanted = f"nn.Linear({n_in}, {n_out})"
        raise AnswerError(
            ProblemKind.ATTRIBUTE, f"self.{name} is nn.Linear{sizes}; it should be {wanted}."
        )
    if (layer.bias is not None) != bias:
        word = "a bias" if bias else "no bias"
        raise AnswerError(ProblemKind.ATTRIBUTE, f"self.{name} should have {word}.")


def mode_of(module: nn.Module) -> bool | str:
    """Return whether a module and all its parts are in train mode, or a sentence if they differ."""
    modes = {part.training for part in module.modules()}
    return modes.pop() if len(modes) == 1 else "not the same mode in all parts"


def call_with(module: nn.Module, weights: Mapping[str, torch.Tensor], *args: Any) -> Any:
    """Call a module with the given parameters in place of its own, so that gradients reach them.

    Args:
        module: the student's module.
        weights: parameter name -> tensor of the parameter's shape.
        args: arguments of forward.

    Raises:
        AnswerError: the module has no such parameter, or one of another shape.

    """
    own = dict(module.named_parameters())
    for name, tensor in weights.items():
        if name not in own:
            raise AnswerError(ProblemKind.ATTRIBUTE, f"It should have a parameter self.{name}.")
        if own[name].shape != tensor.shape:
            got, wanted = tuple(own[name].shape), tuple(tensor.shape)
            raise AnswerError(
                ProblemKind.ATTRIBUTE, f"self.{name} has shape {got}; it should be {wanted}."
            )
    with without_recomputing(), _assigned_to_themselves():
        return functional_call(module, dict(weights), args)


@contextmanager
def _assigned_to_themselves() -> Iterator[None]:
    """Let a lent tensor be assigned to its own place, as `module.weight *= 2` does at its end.

    A module's parameter may be; a tensor that is lent in its place is none, and torch refuses it,
    with an error that the student's code does not cause.
    """
    assign = nn.Module.__setattr__

    def assigned(module: nn.Module, name: str, value: Any) -> None:
        if vars(module).get("_parameters", {}).get(name, module) is not value:
            assign(module, name, value)

    with mock.patch.object(nn.Module, "__setattr__", assigned):
        yield


def name_of_error(call: Callable[[], object]) -> str:
    """Return the name of the error that a call raises, or "no error"; a stub is passed on."""
    try:
        call()
    except NotImplementedError:
        raise  # a stub, not a wrong error
    except Exception as error:
        return type(error).__name__
    return "no error"

"""Helpers for probes, which call a student's object and say clearly what does not fit."""

from collections.abc import Callable

from torch import nn
from torch.nn.parameter import is_lazy

from utils.checks.observation import AnswerError, ProblemKind, describe


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
    # A lazy layer takes its first size from its first input.
    sizes = (n_in if is_lazy(layer.weight) else layer.in_features, layer.out_features)
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


def name_of_error(call: Callable[[], object]) -> str:
    """Return the name of the error that a call raises, or "no error"; a stub is passed on."""
    try:
        call()
    except NotImplementedError:
        raise  # a stub, not a wrong error
    except Exception as error:
        return type(error).__name__
    return "no error"

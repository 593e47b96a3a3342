"""Numbers put in the place of a module's own, wherever it keeps them and however often.

A part is looked up as Python reads its path, so that a property or a second name leads to it. What
is found is known by identity: wherever the module holds that very tensor, the given one takes its
place. torch's own `functional_call` goes by names and leaves a part with two names changed.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.nn.utils import parametrize

from utils.checks.authoring.recomputing import without_recomputing
from utils.checks.observation import AnswerError, ProblemKind


def call_with(module: nn.Module, weights: Mapping[str, Tensor], *args: Any) -> Any:
    """Call a module with the given tensors in place of its own, so that gradients reach them.

    Args:
        module: the student's module.
        weights: path of a parameter or buffer -> tensor of its shape.
        args: arguments of forward.

    Raises:
        AnswerError: as for `use_with`.

    """
    if any(map(is_lazy, module.parameters())):  # their sizes are those of the first call
        with torch.no_grad():
            module(*(x.clone() if isinstance(x, Tensor) else x for x in args))
    return use_with(module, weights, lambda own: own(*args))


def use_with(module: nn.Module, weights: Mapping[str, Tensor], use: Callable[[Any], Any]) -> Any:
    """Call `use` on a module while the given tensors, by path, are in place of its own.

    Raises:
        AnswerError: the module has no such parameter, or one of another shape, or two of the paths
            lead to the same one.

    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(without_recomputing())
        stack.enter_context(_assigned_to_themselves())
        given: dict[int, Tensor] = {}
        for path, tensor in weights.items():
            found, computed = found_at(module, path), _computed_by(module, path)
            if id(found) in given:
                first = next(p for p in weights if found_at(module, p) is found)
                message = f"self.{first} and self.{path} are one tensor: they share their weights."
                raise AnswerError(ProblemKind.ATTRIBUTE, message)
            _require_own(module, path, tensor.shape)
            if computed is None:
                given[id(found)] = tensor
            else:
                stack.enter_context(computed(tensor))
        stack.enter_context(_swapped(module, given))
        return use(module)


def found_at(module: object, path: str) -> Any:
    """Return what a dotted path leads to, as Python reads it; None where it leads nowhere."""
    for name in path.split("."):
        if name.isdigit() and isinstance(module, (nn.ModuleList, nn.Sequential)):
            module = dict(enumerate(module)).get(int(name))
        else:
            module = getattr(module, name, None)
    return module


def parameters_at(module: nn.Module, path: str) -> list[nn.Parameter]:
    """Return the parameter at a path, or those from which a parametrisation computes it."""
    owner, name = _owner(module, path)
    if _is_parametrised(owner, name):
        return list(owner.parametrizations[name].parameters())
    found = getattr(owner, name, None)
    return [found] if isinstance(found, nn.Parameter) else []


def _owner(module: nn.Module, path: str) -> tuple[Any, str]:
    parent, _, name = path.rpartition(".")
    return (found_at(module, parent) if parent else module), name


def _is_parametrised(owner: object, name: str) -> bool:
    return isinstance(owner, nn.Module) and parametrize.is_parametrized(owner, name)


def _require_own(module: nn.Module, path: str, shape: torch.Size) -> None:
    """Check that a path leads to a tensor of this shape that the module has registered."""
    found = found_at(module, path)
    registered = itertools.chain(module.parameters(), module.buffers())
    if not any(found is own for own in registered) and _computed_by(module, path) is None:
        raise AnswerError(ProblemKind.ATTRIBUTE, f"It should have a parameter self.{path}.")
    if found.shape != shape:
        got, wanted = tuple(found.shape), tuple(shape)
        message = f"self.{path} has shape {got}; it should be {wanted}."
        raise AnswerError(ProblemKind.ATTRIBUTE, message)


def _computed_by(
    module: nn.Module, path: str
) -> Callable[[Tensor], contextlib.AbstractContextManager[Any]] | None:
    """Return how to replace a tensor that torch computes from others; None if it is itself kept."""
    owner, name = _owner(module, path)
    if _is_parametrised(owner, name):
        parts = owner.parametrizations._modules
        return lambda tensor: mock.patch.dict(parts, {name: _Given(tensor)})
    for hook in getattr(owner, "_forward_pre_hooks", {}).values():  # torch.nn.utils.weight_norm
        if getattr(hook, "name", None) == name and hasattr(hook, "compute_weight"):
            return lambda tensor: mock.patch.object(hook, "compute_weight", lambda *_, **__: tensor)
    return None


class _Given(nn.Module):
    """In place of a parametrisation, a tensor as it is."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__()
        self.given = [tensor]  # in a list, for torch not to register it

    def forward(self) -> Tensor:
        """Return the tensor."""
        return self.given[0]


@contextlib.contextmanager
def _swapped(module: nn.Module, given: Mapping[int, Tensor]) -> Iterator[None]:
    """Put tensors in the place of others, by identity, in all parts; then put those back."""
    places = [
        (holder, name, held, new)
        for part in module.modules()
        for holder in (part._parameters, part._buffers, vars(part))
        for name, held in list(holder.items())
        if name not in {"_parameters", "_buffers"} and (new := _with_given(held, given)) is not held
    ]
    for holder, name, _, new in places:
        holder[name] = new
    try:
        yield
    finally:
        for holder, name, held, _ in places:
            holder[name] = held


def _with_given(held: Any, given: Mapping[int, Tensor]) -> Any:
    """Return the tensor in whose place one is given, or a plain collection that holds some."""
    if id(held) in given:
        return given[id(held)]
    if type(held) in (list, tuple) and any(id(x) in given for x in held):
        return type(held)(given.get(id(x), x) for x in held)
    if type(held) is dict and any(id(x) in given for x in held.values()):
        return {key: given.get(id(x), x) for key, x in held.items()}
    return held


@contextlib.contextmanager
def _assigned_to_themselves() -> Iterator[None]:
    """Let a given tensor be assigned to its own place, as `module.weight *= 2` does at its end.

    A module's parameter may be; a tensor that stands in its place is none, and torch refuses it,
    with an error that the student's code does not cause.
    """
    assign = nn.Module.__setattr__

    def assigned(module: nn.Module, name: str, value: Any) -> None:
        if vars(module).get("_parameters", {}).get(name, module) is not value:
            assign(module, name, value)

    with mock.patch.object(nn.Module, "__setattr__", assigned):
        yield

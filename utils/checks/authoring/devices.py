"""Whether an answer makes its tensors where its inputs are, tried without a second device.

torch's own device without numbers, "meta", takes more than a second to load. So some tensors play
being elsewhere: they keep their numbers, name another device, and meet no tensor of this one.
"""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

_ELSEWHERE: Final = torch.device("meta")  # only its name is used
_HERE: Final = torch.device("cpu")
_PLACE: Any = getattr(Tensor.device, "__get__")  # noqa: B009 (what reading x.device calls)


class Elsewhere(Tensor):
    """A tensor that says it is on another device."""

    @classmethod
    def __torch_function__(
        cls, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Do torch's work on the numbers, unless a tensor with axes is on this device."""
        if called == _PLACE:
            return _ELSEWHERE
        with torch._C.DisableTorchFunctionSubclass():
            given = tree_leaves((args, kwargs or {}))
            if any(isinstance(x, Tensor) and type(x) is not cls and x.dim() for x in given):
                raise RuntimeError("Expected all tensors to be on the same device, and two met.")
            plain_args, plain = tree_map(_numbers, (args, kwargs or {}))
            found = called(*plain_args, **plain)
            if getattr(called, "__name__", "") == "cpu" or any(map(_is_here, given)):
                return found  # it was moved
            return tree_map_only(Tensor, lambda x: x.as_subclass(cls), found)


class _MakingElsewhere(TorchFunctionMode):
    """What is made on the other device only plays being there."""

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Make on this device what is asked of the other one."""
        given = dict(kwargs or {})
        if getattr(called, "__name__", "") == "to" and _is_there([*args[1:], *given.values()]):
            return elsewhere(_numbers(args[0]))
        if given.get("device") != _ELSEWHERE:
            return called(*args, **given)
        made = called(*args, **(given | {"device": _HERE}))
        return made.as_subclass(Elsewhere) if isinstance(made, Tensor) else made


def _numbers(x: Any) -> Any:
    if isinstance(x, Elsewhere):
        return x.as_subclass(Tensor)
    return _HERE if isinstance(x, torch.device) and x == _ELSEWHERE else x


def _is_there(given: list[Any]) -> bool:
    return any(
        isinstance(x, Elsewhere) or (isinstance(x, torch.device) and x == _ELSEWHERE) for x in given
    )


def _is_here(x: object) -> bool:
    return x == "cpu" if isinstance(x, str) else isinstance(x, torch.device) and x == _HERE


def elsewhere(x: Tensor) -> Tensor:
    """Return a copy that says it is on another device."""
    return x.detach().clone().as_subclass(Elsewhere)


def is_made_there(call: Callable[[], object]) -> bool:
    """Return whether a call on inputs that are elsewhere gives a tensor that is there too."""
    try:
        with _MakingElsewhere():
            result = call()
    except RuntimeError as error:
        return "same device" not in str(error)
    return not isinstance(result, Tensor) or isinstance(result, Elsewhere)

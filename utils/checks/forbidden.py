"""Shortcuts that an exercise rules out are absent while an answer is observed.

Twice over: their names lead nowhere, and torch's functions refuse to be called, so that one that
was kept under another name before does not help.
"""

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch.overrides import TorchFunctionMode

_CHECKS, _TORCH = Path(__file__).resolve().parent, str(Path(torch.__file__).parent)
# The course's references may use what answers may not; these files call answers.
_REFERENCES = (str(_CHECKS), str(_CHECKS.with_name("blocks.py")))
_CALL_ANSWERS = ("probes", "calling", "observe")


class Forbidden(Exception):
    """The answer used something that its exercise rules out."""


@contextlib.contextmanager
def absent(names: Sequence[str]) -> Iterator[None]:
    """Replace each dotted name by something that refuses to be called, then restore it.

    Args:
        names: such as "torch.nn.functional.softmax" or "torch.Tensor.softmax".
    """
    replaced: dict[Any, Any] = {}
    with contextlib.ExitStack() as restored:
        for name in names:
            owner, attribute = _resolve(name)
            refusal = _refusal(name)
            replaced[refusal] = getattr(owner, attribute)
            restored.callback(_restorer(owner, attribute))
            setattr(owner, attribute, refusal)
        if names:
            restored.enter_context(_Refusing(names, replaced))
        yield


class _Refusing(TorchFunctionMode):
    """Refuses torch's functions by the names that they call themselves.

    References and known mistakes are built on them, and may use them.

    Args:
        names: dotted, as `absent` takes them.
        replaced: refusal -> what it stands in the place of.
    """

    def __init__(self, names: Sequence[str], replaced: Mapping[Any, Any]) -> None:
        super().__init__()
        self._replaced = replaced
        self._names = {name.rsplit(".", 1)[1]: name for name in reversed(names)}

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Let torch do its work, unless it is ruled out."""
        # Functions written in Python look up their own name, which leads to a refusal by now.
        function = self._replaced.get(called, called)
        name = self._names.get(_own_name(function))
        if name and not _asked_by_a_reference():
            _refuse(name)
        return function(*args, **(kwargs or {}))


def _own_name(function: Any) -> str:
    """``softmax``, also of ``torch.ops.aten.softmax.int`` and of ``torch.special.softmax``."""
    return str(getattr(function, "__name__", "")).partition(".")[0].removeprefix("special_")


def _asked_by_a_reference() -> bool:
    """Whether the innermost code that is not torch's own is a reference or a known mistake."""
    frame = sys._getframe(2)  # the caller of torch's function
    while frame.f_back and frame.f_code.co_filename.startswith(_TORCH):
        frame = frame.f_back
    asks = Path(frame.f_code.co_filename)
    return str(asks).startswith(_REFERENCES) and not asks.stem.startswith(_CALL_ANSWERS)


def _resolve(name: str) -> tuple[Any, str]:
    path, attribute = name.rsplit(".", 1)
    module, _, rest = path.partition(".Tensor")
    owner = importlib.import_module(module)
    return (owner.Tensor if path.endswith(".Tensor") and not rest else owner), attribute


def _restorer(owner: Any, attribute: str) -> Callable[[], None]:
    if attribute in vars(owner):
        original = vars(owner)[attribute]
        return lambda: setattr(owner, attribute, original)
    return lambda: delattr(owner, attribute)  # it was inherited, as most of Tensor's methods are


def _refusal(name: str) -> Callable[..., NoReturn]:
    return lambda *_args, **_kwargs: _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise Forbidden(f"{name} does what this exercise asks you to build: write it without.")

"""Shortcuts that an exercise rules out are absent while an answer is observed.

Twice over: their names lead nowhere, and torch's functions refuse to be called, so that one that
was kept under another name before does not help.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
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


class _Refusal:
    """What stands in the place of a shortcut.

    Args:
        name: of the shortcut, dotted.
        original: the shortcut itself.
    """

    def __init__(self, name: str, original: Any) -> None:
        self.name, self.original = name, original

    def __call__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse, whatever it is called with."""
        raise Forbidden(f"{self.name} does what this exercise asks you to build: write it without.")


@contextlib.contextmanager
def absent(names: Sequence[str]) -> Iterator[None]:
    """Replace each dotted name by something that refuses to be called, then restore it.

    Args:
        names: such as "torch.nn.functional.softmax" or "torch.Tensor.softmax".
    """
    with contextlib.ExitStack() as restored:
        for name in names:
            owner, attribute = _resolve(name)
            restored.callback(_restorer(owner, attribute))
            setattr(owner, attribute, _Refusal(name, getattr(owner, attribute)))
        yield


@functools.cache
def refused(names: tuple[str, ...]) -> contextlib.AbstractContextManager[object]:
    """Have torch's functions refuse to be called, by whatever name somebody kept them.

    It costs about two microseconds for each call of torch.

    Args:
        names: as for `absent`.
    """
    return _Refusing(names) if names else contextlib.nullcontext()


class _Refusing(TorchFunctionMode):
    """Looks at the names that torch's functions call themselves.

    References and known mistakes are built on those that are ruled out, and may use them.

    Args:
        names: dotted.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = {name.rsplit(".", 1)[1]: name for name in reversed(names)}

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Let torch do its work, unless it is ruled out."""
        # Functions written in Python look up their own name, which leads to a refusal by now.
        function = called.original if isinstance(called, _Refusal) else called
        name = self._names.get(_own_name(function))
        if name and not _asked_by_a_reference():
            _Refusal(name, function)()
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

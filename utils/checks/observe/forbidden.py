"""Shortcuts that an exercise rules out, and that are absent while an answer is observed.

They are blocked twice: their names lead nowhere, and torch's functions refuse to be called, so
that keeping one under another name beforehand does not help.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import torch
from torch.overrides import TorchFunctionMode

_TORCH = str(Path(torch.__file__).parent)
_UTILS = Path(__file__).resolve().parents[2]
_PYTHON_ONLY = "torch.masked."  # never asks a mode; their plain names are those of other functions
_REFERENCE, _LESSONS = _UTILS / "reference", _UTILS / "checks" / "lessons"


class Forbidden(Exception):
    """The answer used something that its exercise rules out.

    Attributes:
        times: how often that happened in this process.

    """

    times: ClassVar[int] = 0

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        Forbidden.times += 1


def says(name: str) -> str:
    """Return the sentence for a shortcut that was called."""
    return f"{name} does what this exercise asks you to build: write it yourself."


class _Refusal:
    """The object that takes the place of a shortcut.

    Args:
        name: dotted name of the shortcut.
        original: the shortcut itself.

    """

    def __init__(self, name: str, original: Any) -> None:
        self.name, self.original = name, original

    def __call__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Refuse, whatever the arguments."""
        raise Forbidden(says(self.name))


@contextlib.contextmanager
def absent(names: Sequence[str]) -> Iterator[None]:
    """Replace each dotted name with something that refuses to be called, then restore it.

    Args:
        names: dotted names such as "torch.nn.functional.softmax" or "torch.Tensor.softmax".

    """
    with contextlib.ExitStack() as restored:
        for name in names:
            owner, attribute = _resolve(name)
            restored.callback(_restorer(owner, attribute))
            setattr(owner, attribute, _Refusal(name, getattr(owner, attribute)))
        yield


@functools.cache
def refused(names: tuple[str, ...]) -> contextlib.AbstractContextManager[object]:
    """Make torch's functions refuse to be called, whatever name they were kept under.

    This costs about two microseconds per call of torch.

    Args:
        names: as for `absent`.

    """
    return _Refusing(names) if names else contextlib.nullcontext()


class _Refusing(TorchFunctionMode):
    """A mode that checks torch's functions by their own names.

    References and known mistakes are built on ruled-out functions and may use them.

    Args:
        names: dotted names.

    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        own = [name for name in reversed(names) if not name.startswith(_PYTHON_ONLY)]
        self._names = {name.rsplit(".", 1)[1]: name for name in own}

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Let torch run the function, unless it is ruled out."""
        # Functions written in Python look up their own name, which by now leads to a refusal.
        function = called.original if isinstance(called, _Refusal) else called
        name = self._names.get(_own_name(function))
        if name and not _asked_by_a_reference():
            _Refusal(name, function)()
        return function(*args, **(kwargs or {}))


def _own_name(function: Any) -> str:
    """Return a function's plain name.

    It is ``softmax``, also for ``torch.ops.aten.softmax.int`` and ``torch.special.softmax``.
    """
    return str(getattr(function, "__name__", "")).partition(".")[0].removeprefix("special_")


def _asked_by_a_reference() -> bool:
    """Return whether the innermost code outside torch is a reference or a known mistake."""
    frame = sys._getframe(2)  # the caller of torch's function
    while frame.f_back and frame.f_code.co_filename.startswith(_TORCH):
        frame = frame.f_back
    return _is_reference(frame.f_code.co_filename)


@functools.cache
def _is_reference(filename: str) -> bool:
    """Return whether a file holds our right or wrong answers, which may use what students may not.

    The package decides: in a lesson's checks, all but the probes, which call answers.
    """
    file = Path(filename)
    if file.is_relative_to(_LESSONS):
        return "probes" not in file.relative_to(_LESSONS).parts
    return file.is_relative_to(_REFERENCE)


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

"""Find the line that writes into a tensor that backward needs: torch does not name it.

A call that torch stops for it is made once more and watched: what backward keeps is noted with its
version, and each write with the line that it comes from. No name of a function is looked for: what
raises a tensor's version writes into it, be it `x[...] = y`, `x /= y`, `relu(x, inplace=True)`, an
optimizer's step or a method whose name ends in an underscore.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import torch
from torch import _C, Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from utils.checks.observe.students_line import line_now, sign_now

_OF_A_LEAF: Final = re.compile(r"leaf variable that requires grad", re.I)
_ABOUT_WRITING: Final = re.compile(
    rf"modified by an in-?place operation|{_OF_A_LEAF.pattern}", re.I
)
# What a student calls steps that they write as signs; others have the name of torch's function.
_SIGNS: Final = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "addmm", "baddbmm"), "A matrix product"),
    "add": "`+`",
    "sub": "`-`",
    "mul": "`*`",
    "div": "`/`",
    "pow": "`**`",
}


class Overwritten(RuntimeError):
    """A tensor was written into that must stay as it is.

    Attributes:
        line: the student's line that writes, if it is one of theirs.

    """

    def __init__(self, message: str, line: str) -> None:
        super().__init__(message)
        self.line = line


class _Saved(NamedTuple):
    """What backward needs, and how often it had been written into when it was saved."""

    tensor: Tensor
    version: int


class _Write(NamedTuple):
    """One write: into which tensor, its version since then, how, and on which line."""

    tensor: Tensor
    version: int
    how: str
    line: str


def is_about_writing(error: BaseException) -> bool:
    """Return whether torch stopped a call because it writes into a tensor."""
    return isinstance(error, RuntimeError) and bool(_ABOUT_WRITING.search(str(error)))


@contextlib.contextmanager
def watching(spared: Iterable[object] = ()) -> Iterator[None]:
    """Watch a call and its backward.

    Args:
        spared: inputs that may be overwritten: what backward needs of them is copied when it is
            saved, so that writing into them costs no more than it must.

    Raises:
        Overwritten: backward needs another tensor that was written into, or one is written into
            that requires gradients itself.

    """
    spared_places = {_place(value) for value in spared if isinstance(value, Tensor)}
    writes = _Writes()

    def keep(tensor: Tensor) -> _Saved:
        kept = tensor.detach().clone() if _place(tensor) in spared_places else tensor
        return _Saved(kept, kept._version)

    def unchanged(saved: _Saved) -> Tensor:
        if saved.tensor._version != saved.version:
            raise writes.first_after(saved)
        return saved.tensor

    with saved_tensors_hooks(keep, unchanged), writes:
        yield


class _Writes(TorchFunctionMode):
    """A mode that notes all writes."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[_Write] = []  # holds the tensors, so that no other takes their places

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Let torch run a function, and see whose version it raises."""
        given = list(_tensors((args, kwargs or {})))
        before = [tensor._version for tensor in given]
        try:
            result = called(*args, **(kwargs or {}))
        except RuntimeError as error:
            if not _OF_A_LEAF.search(str(error)):
                raise
            what = "a parameter" if any(map(_is_parameter, given[:1])) else "no parameter"
            raise Overwritten(f"{error} It is {what}.", line_now()) from None
        for tensor, version in zip(given, before, strict=True):
            if tensor._version != version:
                how = _how(called, kwargs or {})
                self._found.append(_Write(tensor, tensor._version, how, line_now()))
        return result

    def first_after(self, saved: _Saved) -> Overwritten:
        """Return what is wrong with a saved tensor that was written into."""
        place = _place(saved.tensor)
        mine = (w for w in self._found if _place(w.tensor) == place and w.version > saved.version)
        write = next(mine, None)
        if write is None:  # not by a function of torch's
            return Overwritten("a tensor was modified by an inplace operation.", "")
        what = "parameter" if _is_parameter(write.tensor) else "tensor"
        return Overwritten(
            f"{_step_now()} keeps a {what} for backward(), and your code writes into that {what} "
            f"before backward() has run ({write.how}).",
            write.line,
        )


def _how(called: Any, kwargs: dict[str, Any]) -> str:
    """Return how a student writes what a function of torch's did."""
    name = str(getattr(called, "__name__", ""))
    if "setitem" in name:
        return "`[...] =`"
    if kwargs.get("out") is not None:
        return f"`{name}(..., out=...)`"
    if kwargs.get("inplace"):
        return f"`{name}(..., inplace=True)`"
    return f"`{sign_now() or name}`"


def _step_now() -> str:
    """Return the step whose backward pass runs now, as a student calls it."""
    node = _C._current_autograd_node()
    name = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2]) if node else ""
    own = re.sub(r"(?<=[a-z\d])(?=[A-Z])", "_", name).lower().removeprefix("native_")
    called = f"`{own}`" if own and (hasattr(torch, own) or hasattr(functional, own)) else ""
    return _SIGNS.get(own, called or "An earlier step")


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        if not value.is_inference():
            yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _is_parameter(tensor: Tensor) -> bool:
    return isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter)


def _place(tensor: Tensor) -> int:
    """Return where a tensor's numbers are, which it shares with its views."""
    return int(tensor.untyped_storage()._cdata)

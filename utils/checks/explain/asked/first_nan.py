"""Where a student's code first meets NaN, or an infinite number: seen by watching a call of it."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from utils.checks.compare.compare import number
from utils.checks.exercise import Inputs
from utils.checks.observe.students_line import line_now

_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "truediv": "/", "pow": "**"}
_PLAIN_NAME: Final = re.compile(r"^_*i?(r?)(\w+?)_*$")
Test = Callable[[Tensor], Tensor]
Call = Callable[[Any, Inputs], Mapping[str, object]]


@dataclass(frozen=True)
class _Seen:
    """A step that gives what nothing had that it was given: its line, and what it computes."""

    says: str
    of_finite: bool


class FirstNan(TorchFunctionMode):
    """A mode that notes the first step that gives NaN, and the first that gives infinity.

    Nothing is said of an infinite number that is written down as one, as minus infinity is
    to take an entry out, or of NaN that no function of torch's gives.
    """

    def __init__(self) -> None:
        super().__init__()
        self._nan: _Seen | None = None
        self._infinite: _Seen | None = None

    def watched(self, call: Call) -> Call:
        """Return a probe's call under this mode: what is open around a call is put away."""

        def under_watch(answer: Any, inputs: Inputs) -> Mapping[str, object]:
            with self:
                return call(answer, inputs)

        return under_watch

    def says(self) -> Iterator[str]:
        """Say which line first gives NaN, and which an infinite number, if NaN is made of one."""
        if self._nan is not None:
            yield f"The first NaN comes up in your line {self._nan.says}."
        if self._infinite is not None and (self._nan is None or not self._nan.of_finite):
            yield f"The first infinite number comes up in your line {self._infinite.says}."

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Let torch run a function, and look at what it gives."""
        before = [*map(_copied, args)]  # it may write into what it is given
        result = called(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.is_floating_point() and result.numel():
            given = [*before, *(kwargs or {}).values()]
            self._nan = self._nan or _seen(torch.isnan, called, given, result)
            self._infinite = self._infinite or _seen(torch.isinf, called, given, result)
        return result


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) and value.is_floating_point() else value


def _seen(is_lost: Test, called: Any, given: list[Any], result: Tensor) -> _Seen | None:
    """Return a step that gives what is lost, if nothing that it was given is."""
    lost = is_lost(result)
    if not lost.any() or any(is_lost(value).any() for value in _numbers(given)):
        return None
    of_finite = all(bool(torch.isfinite(value).all()) for value in _numbers(given))
    numbers = "finite numbers" if of_finite else "numbers that are not all finite"
    computed = _computed(called, given, result, lost)
    computed = computed or f"`{_names(called)[1]}` gives it for {numbers}"
    line = line_now()
    return _Seen(f"`{line}`: {computed}", of_finite) if line else None


def _numbers(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor) and value.is_floating_point():
        yield value
    elif isinstance(value, float):
        yield torch.tensor(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)


def _computed(called: Any, given: list[Any], result: Tensor, lost: Tensor) -> str:
    """Say what a step computes at the first place where it gives what is lost, if it is plain."""
    reverse, name = _names(called)
    place = tuple(int(n) for n in lost.nonzero()[0])
    entries = [_entry(value, result, place) for value in given if not isinstance(value, str)]
    if name in _SIGNS and len(entries) == 2 and None not in entries:
        one, other = reversed(entries) if reverse else entries
        at = f", at {list(place)}" if place else ""
        return f"it computes {one} {_SIGNS[name]} {other}{at}"
    if len(entries) == 1 and entries[0] is not None and name not in ("softmax", "log_softmax"):
        return f"`{name}` is asked for {entries[0]}, at {list(place)}"
    return ""


def _names(called: Any) -> tuple[bool, str]:
    """Return whether a function's operands are exchanged, and its plain name."""
    name = str(getattr(called, "__name__", ""))
    if not name.startswith("__"):
        return False, name.rstrip("_")
    found = _PLAIN_NAME.match(name)
    plain = found[2] if found else name
    return bool(found and found[1] and plain in _SIGNS), plain


def _entry(value: Any, result: Tensor, place: tuple[int, ...]) -> str | None:
    """Return the number that stands at a place of what a step was given, if that is known."""
    if isinstance(value, Tensor):
        try:
            value = value.expand(result.shape)[place].item()
        except RuntimeError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return number(value) if math.isfinite(value) else str(value)

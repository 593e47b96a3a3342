"""One-step changes of a tensor or a number, in words: what an answer may do to an input or result.

People write many things that no bank of mistakes foresees, but most are one step too many or one of
another kind: a running sum, a mean in the place of single values, vectors scaled to length one.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

MOST_AXES = 4
Of = Callable[[Any], Any]  # a tensor, or a number, of the same form


@dataclass(frozen=True)
class Change:
    """A step and what a tensor is after it ("added up along axis 0").

    Attributes:
        words: a participle with what belongs to it.
        of: a tensor -> a tensor of the same form.
        kind: tells it from a change that is told in the same words.

    """

    words: str
    of: Of
    kind: str = ""

    @property
    def key(self) -> str:
        """Return its words, and its kind if there are several."""
        return f"{self.words} {self.kind}"


def changes(like: Tensor) -> Iterator[Change]:
    """Return the changes that a tensor of this form and type can go through, the plainest first."""
    if like.dtype == torch.bool:
        yield Change("inverted: True where it should be False", torch.logical_not)
    elif like.is_floating_point():
        yield from (*_OF_NUMBERS, *_OF_ROWS) if like.ndim > 1 else _OF_NUMBERS
    if like.ndim > 1 and like.shape[-1] != like.shape[-2] and min(like.shape[-2:]) > 1:
        yield Change(_RESHAPED, _reshaped_for_a_transpose)
    is_boolean = like.dtype == torch.bool  # broadcasts in another form too
    if like.ndim > 1 and (like.shape[-1] == like.shape[-2] or is_boolean):
        yield Change("transposed", lambda x: x.transpose(-1, -2))
    for axis in range(min(like.ndim, MOST_AXES)):
        if like.shape[axis] > 1:
            yield from _along(axis, is_float=like.is_floating_point(), is_only=like.ndim == 1)


def changes_of_number(like: float) -> Iterator[Change]:
    """Return the changes that a plain number can go through."""
    yield from (_OF_INTEGERS if isinstance(like, int) else ()) + _OF_PLAIN_NUMBERS


def of_length_one(x: Tensor) -> Tensor:
    """Scale vectors (..., D) to length one."""
    return functional.normalize(x, dim=-1)


def normalised(x: Tensor) -> Tensor:
    """Normalise vectors (..., D) as a layer norm without weights does."""
    return functional.layer_norm(x, x.shape[-1:])


def _of_entries_about_one(x: Tensor) -> Tensor:
    return of_length_one(x) * math.sqrt(x.shape[-1])


def _rows_divided(x: Tensor) -> Tensor:
    return x / x.sum(-1, keepdim=True)


def _reshaped_for_a_transpose(x: Tensor) -> Tensor:
    """Return what has to be transposed to give what reshape gives in the place of a transpose."""
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]).mT


_RESHAPED = "brought into its transposed shape by a reshape, which is no transpose"
_OF_INTEGERS = (
    Change("one more", lambda n: n + 1),
    Change("one less", lambda n: n - 1),
    Change("one less, but never below 1", lambda n: max(n - 1, 1)),
)
_OF_PLAIN_NUMBERS = (
    Change("doubled", lambda n: 2 * n),
    Change("halved", lambda n: n / 2),
    Change("squared", lambda n: n * n),
    Change("negated", lambda n: -n),
    Change("replaced by its square root", lambda n: n**0.5),
    Change("replaced by 1 / itself", lambda n: 1 / n),
)
_OF_ONE_LENGTH = "scaled to the same length along its last axis, so that only its direction counts"
_OF_NUMBERS = (
    Change("put through a tanh", torch.tanh),
    Change("put through a ReLU", torch.relu),
    Change("put through a sigmoid", torch.sigmoid),
    Change("made positive (abs)", torch.abs),
    Change("squared", torch.square),
    Change("put through an exponential function", torch.exp),
    Change("put through a softmax over its last axis", lambda x: x.softmax(-1)),
    Change("put through a log_softmax over its last axis", lambda x: x.log_softmax(-1)),
    Change(_OF_ONE_LENGTH, of_length_one),
    Change(_OF_ONE_LENGTH, _of_entries_about_one, "root of the size"),
    Change("normalised along its last axis, to mean 0 and variance 1", normalised),
    Change("doubled", lambda x: 2 * x),
    Change("halved", lambda x: x / 2),
    Change("negated", torch.neg),
    Change("divided by the root of its last size", lambda x: x / math.sqrt(x.shape[-1])),
    Change("multiplied by the root of its last size", lambda x: x * math.sqrt(x.shape[-1])),
    Change("clamped to between -1 and 1", lambda x: x.clamp(-1, 1)),
    Change("clamped to between 0 and 1", lambda x: x.clamp(0, 1)),
    Change("divided by its sum along the last axis", _rows_divided),
)
_OF_ROWS = (Change("put through a softmax over its last axis but one", lambda x: x.softmax(-2)),)


def _along(axis: int, *, is_float: bool, is_only: bool) -> Iterator[Change]:
    """Return changes along an axis; `is_only` where a tensor has no other."""
    where = "" if is_only else f" along axis {axis}"
    yield Change(f"reversed{where}", lambda x: x.flip(axis))
    for falling, words in ((True, "large to small"), (False, "small to large")):
        yield Change(f"sorted{where}, from {words}", _sorted(axis, falling=falling))
    for place, words in ((0, "first"), (-1, "last")):
        yield Change(f"replaced everywhere by its {words} entry{where}", _everywhere(axis, place))
        if is_float:
            yield Change(f"set to 0 at the {words} place{where}", _zeroed(axis, place))
    yield Change(f"moved one place on{where}, the last one to the front", _rolled(axis, 1))
    yield Change(f"moved one place back{where}, the first one to the end", _rolled(axis, -1))
    if is_float:
        yield Change(f"added up{where} (a running sum)", lambda x: x.cumsum(axis))
        yield Change(f"centred{where} (its mean is subtracted)", _centred(axis))
        yield Change(f"replaced by its mean{where}", _filled(axis, torch.mean))
        yield Change(f"replaced by its sum{where}", _filled(axis, torch.sum))
        yield Change(f"replaced by its maximum{where}", _filled(axis, torch.amax))


def _everywhere(axis: int, place: int) -> Of:
    return lambda x: x.narrow(axis, place % x.shape[axis], 1).expand_as(x).clone()


def _zeroed(axis: int, place: int) -> Of:
    def of(x: Tensor) -> Tensor:
        new = x.clone()
        new.narrow(axis, place % x.shape[axis], 1).zero_()
        return new

    return of


def _sorted(axis: int, *, falling: bool) -> Of:
    return lambda x: x.sort(dim=axis, descending=falling).values


def _centred(axis: int) -> Of:
    return lambda x: x - x.mean(axis, keepdim=True)


def _rolled(axis: int, steps: int) -> Of:
    return lambda x: x.roll(steps, axis)


def _filled(axis: int, of: Callable[..., Tensor]) -> Of:
    return lambda x: of(x, axis, keepdim=True).expand_as(x).clone()

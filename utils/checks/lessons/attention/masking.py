"""Weights made of scores and a mask: the right way, and the wrong ways that people write."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

Softmax = Literal[
    "once",
    "twice",
    "twice under the mask",
    "shares",
    "positive shares",
    "largest",
    "sigmoid",
    "sigmoid shares",
    "exp",
    "none",
    "log",
    "one added",
]

Masking = Literal[
    "before",
    "ignored",
    "inverted",
    "inverted, nan",
    "inverted, uniform",
    "inverted, then zeroed",
    "queries",
    "queries, nan",
    "zero",
    "nan",
    "uniform",
    "zeroed",
    "after",
    "added",
    "lowered",
    "lowered by ten thousand",
    "infinity added",
    "infinity added, then zeroed",
    "zero times infinity",
    "zero times infinity, then zeroed",
    "zero times infinity, nan taken out",
    "whole rows",
    "between",
    "not None",
    "not None, by a method",
    "first sentence",
    "first ones",
    "lowest score, then zeroed",
    "first key of an empty row",
    "dropped for an empty row",
    "padded queries too",
]
Weigh = Callable[[Tensor], Tensor]


def _shares(scores: Tensor, axis: int) -> Tensor:
    return scores / scores.sum(axis, keepdim=True)


def _one_added(scores: Tensor, axis: int) -> Tensor:
    nothing = torch.zeros_like(scores.narrow(axis, 0, 1))
    return torch.cat([scores, nothing], axis).softmax(axis).narrow(axis, 0, scores.shape[axis])


_SOFTMAX: dict[Softmax, Callable[[Tensor, int], Tensor]] = {
    "once": lambda scores, axis: scores.softmax(axis),
    "twice": lambda scores, axis: scores.softmax(axis).softmax(axis),
    "twice under the mask": lambda scores, axis: scores.softmax(axis),
    "shares": _shares,
    "positive shares": lambda scores, axis: _shares(scores.abs(), axis),
    "largest": lambda scores, axis: (scores == scores.amax(axis, keepdim=True)).to(scores.dtype),
    "sigmoid": lambda scores, axis: scores.sigmoid(),
    "sigmoid shares": lambda scores, axis: _shares(scores.sigmoid(), axis),
    "exp": lambda scores, axis: scores.exp(),
    "none": lambda scores, axis: scores,
    "log": F.log_softmax,
    "one added": _one_added,
}


def masked_softmax(  # noqa: PLR0917 (each argument is a choice)
    scores: Tensor,
    mask: Tensor | None,
    masking: Masking = "before",
    fill: float = -torch.inf,
    axis: int = -1,
    softmax: Softmax = "once",
) -> Tensor:
    """Turn scores into weights under a mask, rightly or in one of the wrong ways.

    Args:
        scores: (..., S).
        mask: True where allowed; None allows all.
        masking: how the mask acts; "before" is right.
        fill: the score of a blocked key, if scores are filled.
        axis: the axis that softmax runs over; -1 is right.
        softmax: what turns scores into weights; "once" is right.

    """
    if softmax == "twice under the mask":
        scores = masked_softmax(scores, mask, masking, fill, axis)
    normalise = _SOFTMAX[softmax]

    def weigh(found: Tensor) -> Tensor:
        return normalise(found, axis)

    if masking in _NEEDS_A_MASK:
        blocked = _NEEDS_A_MASK[masking](mask)
        return weigh(scores.masked_fill(blocked, fill)).masked_fill(blocked, 0.0)
    if mask is None or masking == "ignored":
        return weigh(scores)
    if masking in _NOT_FILLED:
        return _NOT_FILLED[masking](scores, mask, weigh)
    how = _FILLED.get(masking, _Filled())
    allowed = how.seen(mask)
    weights = weigh(scores.masked_fill(~allowed, fill if how.fill is None else how.fill))
    zeroed = how.zeroed(mask, allowed)
    return weights if zeroed is None else weights.masked_fill(zeroed, 0.0)


def _nowhere_allowed(mask: Tensor, allowed: Tensor) -> Tensor | None:
    del mask
    return ~allowed.any(-1, keepdim=True)


def _nothing(mask: Tensor, allowed: Tensor) -> Tensor | None:
    del mask, allowed
    return None


def _blocked(mask: Tensor, allowed: Tensor) -> Tensor | None:
    del allowed
    return ~mask


class _Filled:
    """A way to fill the scores of blocked keys before softmax.

    Args:
        seen: mask -> what is taken for allowed.
        fill: the score of a blocked key; None for the caller's.
        zeroed: (mask, allowed) -> the weights set to zero after softmax; None for none.

    """

    def __init__(
        self,
        seen: Callable[[Tensor], Tensor] = lambda mask: mask,
        fill: float | None = None,
        zeroed: Callable[[Tensor, Tensor], Tensor | None] = _nowhere_allowed,
    ) -> None:
        self.seen, self.fill, self.zeroed = seen, fill, zeroed


def _turned(mask: Tensor) -> Tensor:
    return mask.transpose(-2, -1)


def _first_ones(mask: Tensor) -> Tensor:
    return torch.arange(mask.shape[-1]) < mask.sum(-1, keepdim=True)


_FILLED: dict[Masking, _Filled] = {
    "first sentence": _Filled(lambda mask: mask[:1].expand_as(mask)),
    "first ones": _Filled(_first_ones),
    "inverted": _Filled(torch.logical_not),
    "inverted, nan": _Filled(torch.logical_not, zeroed=_nothing),
    "inverted, uniform": _Filled(torch.logical_not, fill=-1e9, zeroed=_nothing),
    "inverted, then zeroed": _Filled(torch.logical_not, fill=-1e9, zeroed=_blocked),
    "queries": _Filled(_turned),
    "queries, nan": _Filled(_turned, zeroed=_nothing),
    "zero": _Filled(fill=0.0),
    "nan": _Filled(zeroed=_nothing),
    "uniform": _Filled(fill=-1e9, zeroed=_nothing),
    "zeroed": _Filled(zeroed=_blocked),
}


def _plus(term: Callable[[Tensor], Tensor], *, zeroed: bool = False) -> Callable[..., Tensor]:
    """Build a softmax of scores plus a term made of the mask, zeroed under the mask or not."""

    def weights(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
        found = weigh(scores + term(mask))
        return found.masked_fill(~mask, 0.0) if zeroed else found

    return weights


def _minus_infinity(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


def _times_infinity(mask: Tensor) -> Tensor:
    return ~mask * -torch.inf


def _by_an_index(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
    blocked = scores.clone()
    blocked[~mask] = -torch.inf
    return weigh(blocked) * mask.any(-1, keepdim=True)


def _lowest_score(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
    lowest = scores.amin(-1, keepdim=True)
    return weigh(torch.where(mask, scores, lowest)).masked_fill(~mask, 0.0)


def _first_key_of_an_empty_row(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
    first = torch.arange(mask.shape[-1], device=mask.device) == 0
    return weigh(scores.masked_fill(~(mask | first & ~mask.any(-1, keepdim=True)), -torch.inf))


def _dropped_for_an_empty_row(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
    filled = scores.masked_fill(~mask, -torch.inf) if mask.any(-1).all() else scores
    return weigh(filled) * mask.any(-1, keepdim=True)


def _padded_queries_too(scores: Tensor, mask: Tensor, weigh: Weigh) -> Tensor:
    asks_itself = mask.ndim == scores.ndim and scores.shape[-2] == scores.shape[-1]
    if asks_itself and mask.shape[-2] == 1:
        mask = mask & mask.mT
    return weigh(scores.masked_fill(~mask, -torch.inf)).masked_fill(~mask, 0.0)


_NOT_FILLED: dict[Masking, Callable[[Tensor, Tensor, Weigh], Tensor]] = {
    "after": lambda scores, mask, weigh: weigh(scores) * mask,
    "added": _plus(lambda mask: mask),
    "lowered": _plus(lambda mask: ~mask * -1e9),
    "lowered by ten thousand": _plus(lambda mask: ~mask * -1e4),
    "infinity added": _plus(_minus_infinity),
    "infinity added, then zeroed": _plus(_minus_infinity, zeroed=True),
    "zero times infinity": _plus(_times_infinity),
    "zero times infinity, then zeroed": _plus(_times_infinity, zeroed=True),
    "zero times infinity, nan taken out": lambda scores, mask, weigh: weigh(
        scores + _times_infinity(mask)
    ).nan_to_num(0.0),
    "between": lambda scores, mask, weigh: _by_an_index(weigh(scores), mask, weigh),
    "whole rows": lambda scores, mask, weigh: weigh(scores) * mask.all(-1, keepdim=True),
    "lowest score, then zeroed": _lowest_score,
    "first key of an empty row": _first_key_of_an_empty_row,
    "dropped for an empty row": _dropped_for_an_empty_row,
    "padded queries too": _padded_queries_too,
}

# They stop at None, each with its own message.
_NEEDS_A_MASK: dict[Masking, Callable[..., Tensor]] = {
    "not None": lambda mask: ~mask,
    "not None, by a method": lambda mask: mask.logical_not(),
}

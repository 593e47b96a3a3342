"""Right and broken attentions on which the student's own test is tried."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.checks.authoring.tried_sizes import require_small
from utils.checks.observe.substitution import borrowed

Attention = Callable[..., tuple[Tensor, Tensor]]


def reference_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Compute attention by torch's kernel, which is not in a process where students' code runs.

    Its last digits are not those of the textbook's formula: a test that compares with == fails.
    """
    right: Attention = borrowed("utils.reference.attention.torch_attention.reference_attention")
    return right(q, k, v, mask, scale)


def _one_query_at_a_time(attention: Attention) -> Attention:
    def by_rows(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        if mask is not None:
            mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
        rows = [
            attention(q[..., t : t + 1, :], k, v, None if mask is None else mask[..., t : t + 1, :])
            for t in range(q.shape[-2])
        ]
        return torch.cat([row[0] for row in rows], -2), torch.cat([row[1] for row in rows], -2)

    return by_rows


def _without_scaling(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    return reference_attention(q, k, v, mask, scale=1.0)


def _mask_after_softmax(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    output, weights = reference_attention(q, k, v)
    if mask is None:
        return output, weights
    weights = weights * mask
    return weights @ v, weights


def _inverted_mask(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    return reference_attention(q, k, v, None if mask is None else ~mask)


def _values_from_keys(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    del v
    return reference_attention(q, k, k, mask)


_VERSIONS: dict[str, Attention] = {
    "right": reference_attention,
    "right, one query at a time": _one_query_at_a_time(reference_attention),
    "no scaling": _without_scaling,
    "values from keys": _values_from_keys,
    "mask after softmax": _mask_after_softmax,
    "inverted mask": _inverted_mask,
}


def version(name: str, again: bool = False) -> Attention:
    """Return one of the versions, under a name that says nothing about it.

    Args:
        name: its name in the table.
        again: as it is when it comes a second time. Right ones differ in their last digits and in
            their time; so must a broken one and itself.

    """
    function = _one_query_at_a_time(_VERSIONS[name]) if again else _VERSIONS[name]

    def attention(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        require_small(x.shape for x in (q, k, v, mask) if isinstance(x, Tensor))
        if not all(x.is_floating_point() and x.numel() for x in (q, k, v)):
            # Of vectors without numbers, number types and errors would tell versions apart.
            raise ValueError("q, k and v must hold floating-point numbers")
        with torch.no_grad():  # as in grading, where results come from another process
            _VERSIONS["right"](q, k, v, mask)  # what it fails on, all do: odd inputs tell nothing
            return function(q, k, v, mask)

    return attention

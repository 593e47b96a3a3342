"""Gradients of an answer that overwrites its inputs, and of it alone.

Backward refuses a tensor that was written into after it was saved. What backward needs of the
inputs is copied when it is saved, so that writing into them costs no more than it must. All else
that is overwritten stays refused: whoever writes into an input besides has not mended that.
"""

from collections.abc import Iterable
from typing import NamedTuple

from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks


class _Saved(NamedTuple):
    """What backward needs, and how often it had been written into when it was saved."""

    tensor: Tensor
    version: int


def keeping_inputs(inputs: Iterable[object]) -> saved_tensors_hooks:
    """Return a context for a call and its backward, in which these inputs may be overwritten."""
    places = {_place(value) for value in inputs if isinstance(value, Tensor)}

    def keep(tensor: Tensor) -> _Saved:
        kept = tensor.detach().clone() if _place(tensor) in places else tensor
        return _Saved(kept, kept._version)

    return saved_tensors_hooks(keep, _unchanged)


def _unchanged(saved: _Saved) -> Tensor:
    if saved.tensor._version != saved.version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation, and it is none of the inputs."
        )
    return saved.tensor


def _place(tensor: Tensor) -> int:
    """Return where a tensor's numbers are, which it shares with its views."""
    return tensor.untyped_storage().data_ptr()

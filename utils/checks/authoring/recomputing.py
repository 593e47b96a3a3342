"""Modules whose forward is computed once more on the way back, with torch.utils.checkpoint."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch.utils import checkpoint

# What `checkpoint` looks up when it is called, so that names bound earlier lead here, too.
_WITHOUT_REENTRANT, _REENTRANT = "_checkpoint_without_reentrant_generator", "CheckpointFunction"


class _Straight:
    """In place of the autograd function that calls a part again in the backward pass."""

    @staticmethod
    def apply(function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        del preserve
        return function(*args)


def _once(*args: Any, **kwargs: Any) -> Generator[None, None, None]:
    """Stand where what is to be computed again would be noted: before and after the call."""
    del args, kwargs
    yield


@contextmanager
def without_recomputing() -> Iterator[None]:
    """Let `torch.utils.checkpoint.checkpoint` keep what it computes.

    A check calls a module with parameters that are not its own. They are back in place when
    gradients are taken, so a part that is then computed again would be another one.
    """
    with (
        mock.patch.object(checkpoint, _WITHOUT_REENTRANT, _once),
        mock.patch.object(checkpoint, _REENTRANT, _Straight),
    ):
        yield

"""How many calls of torch an answer takes, which tells a loop from one call for all."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

MORE = "more calls of torch for more vectors"  # a result's name: whether there is a loop


class _CallCount(TorchFunctionMode):
    """A mode that counts the calls of torch."""

    calls = 0

    def __torch_function__(
        self, called: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Count the call, then let torch do its work."""
        self.calls += 1
        return called(*args, **(kwargs or {}))


def counted_call(
    answer: Callable[..., object], small: Sequence[Tensor], larger: Sequence[Tensor]
) -> tuple[object, bool]:
    """Return what an answer gives, and whether larger inputs take more calls of torch."""
    with _CallCount() as count:
        result = answer(*small)
    with _CallCount() as more:
        answer(*larger)
    return result, more.calls > count.calls

"""Whether an answer makes its tensors where its inputs are, tried without a second device."""

from collections.abc import Callable
from typing import Final

from torch import Tensor

ELSEWHERE = "meta"  # torch's device without numbers: it is there on every machine
_MIXED: Final = ("same device", "expected device")  # torch's words where two devices meet


def is_made_there(call: Callable[[], object]) -> bool:
    """Return whether a call on inputs of the device ELSEWHERE gives a tensor of that device.

    An answer that reads numbers, as right ones may, cannot run there; that is not held against it.
    """
    try:
        result = call()
    except Exception as error:
        return not any(words in str(error) for words in _MIXED)
    return not isinstance(result, Tensor) or result.device.type == ELSEWHERE

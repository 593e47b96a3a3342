"""Shortcuts that an exercise rules out are absent while an answer is observed."""

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn


class Forbidden(Exception):
    """The answer used something that its exercise rules out."""


@contextlib.contextmanager
def absent(names: Sequence[str]) -> Iterator[None]:
    """Replace each dotted name by something that refuses to be called, then restore it.

    Args:
        names: such as "torch.nn.functional.softmax" or "torch.Tensor.softmax".
    """
    with contextlib.ExitStack() as restored:
        for name in names:
            owner, attribute = _resolve(name)
            restored.callback(_restorer(owner, attribute))
            setattr(owner, attribute, _refusal(name))
        yield


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


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise Forbidden(f"{name} does what this exercise asks you to build: write it without.")

    return refuse

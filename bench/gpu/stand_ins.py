"""What the course imports and a bare machine with torch may lack."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Self


class SilentBar:
    """A progress bar that shows nothing, in place of tqdm's."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def update(self, *_arguments: Any) -> None:
        """Show nothing."""

    def set_postfix(self, *_arguments: Any) -> None:
        """Show nothing."""


class Silent:
    """An object that takes any call and gives itself; as a pair it is two of its kind.

    It stands for a library that draws: `fig, axes = plt.subplots(1, 2)` works and does nothing.
    """

    def __getattr__(self, _name: str) -> Self:
        return self

    def __call__(self, *_arguments: Any, **_options: Any) -> Self:
        """Do nothing."""
        return self

    def __getitem__(self, _key: Any) -> Self:
        return self

    def __iter__(self) -> Iterator[Self]:
        return iter((self, self))


def provide_tqdm() -> None:
    """Put a silent bar where tqdm is not installed; the treebank's loader and `fit` import it."""
    if find_spec("tqdm") is None:
        module = ModuleType("tqdm")
        vars(module)["tqdm"] = SilentBar
        sys.modules["tqdm"] = module

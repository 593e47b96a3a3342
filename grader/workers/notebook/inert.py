"""An object that takes another one's place and does nothing."""

from typing import Any, Self


class Inert:
    """Stands for a thing that is not there: whatever is asked of it is a part of it.

    A part is false, gives back a function that it is to decorate or to compile, and can be entered.
    """

    def __getattr__(self, name: str) -> Self:
        if name.startswith("__"):  # Python and numpy ask for these to learn what it is
            raise AttributeError(name)
        return self

    def __call__(self, *given: Any, **_named: object) -> Any:
        """Return the function that it decorates, else itself."""
        return given[0] if given and callable(given[0]) else self

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

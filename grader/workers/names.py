"""A notebook's names where each test stood: tests come last, when others may be theirs."""

from collections.abc import Iterable
from typing import Any


class Names:
    """Keeps the names that a student's test could see where it stands, and puts them back.

    Args:
        tests: the numbers of the tests' steps.

    """

    def __init__(self, tests: Iterable[int]) -> None:
        self._left = sorted(tests)
        self._kept: dict[int, dict[str, Any]] = {}

    def before(self, number: int, namespace: dict[str, Any]) -> None:
        """Keep the names if a test stood before this step; for a test, put back its own."""
        while self._left and self._left[0] < number:
            self._kept[self._left.pop(0)] = dict(namespace)
        if number in self._kept:
            kept = self._kept.pop(number)
            namespace.clear()
            namespace.update(kept)

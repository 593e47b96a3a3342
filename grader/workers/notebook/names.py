"""A notebook's names where an exercise stood, for one that is observed behind later cells.

Tests come last, when others may be theirs. An exercise that waits for an earlier one, whose answer
stands below it, must not lose its points to what was tried out meanwhile.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

NONE: Final[Mapping[int, Any]] = MappingProxyType({})


class Names:
    """Keeps the names that an exercise could see where it stands, and puts them back.

    Args:
        tests: the numbers of the tests' steps; each sees the names that were there, and no others.
        late: step -> the step that it stood behind; it sees the values that names had there, and
            names that are new. Of earlier exercises it sees the answers that were observed.
        exercises: step -> the exercise that it observes.

    """

    def __init__(
        self,
        tests: Iterable[int],
        late: Mapping[int, int] = NONE,
        exercises: Mapping[int, str] = NONE,
    ) -> None:
        self._tests, self._late, self._exercises = set(tests), late, exercises
        self._left = sorted({*self._tests, *late.values()})
        self._kept: dict[int, dict[str, Any]] = {}
        self._observed: dict[str, Any] = {}  # the answers of earlier exercises
        self._now: dict[str, Any] | None = None  # the names that a step was not to see

    def before(self, number: int, namespace: dict[str, Any]) -> None:
        """Give a step the names that it is to see, after one that may have had its own."""
        if self._now is not None:
            _exchange(namespace, self._now)
            self._now = None
        while self._left and self._left[0] < number:
            self._kept[self._left.pop(0)] = dict(namespace)
        if (seen := self._seen_by(number, namespace)) is not namespace:
            self._now = dict(namespace)
            _exchange(namespace, seen)
        if (exercise := self._exercises.get(number, "")) in namespace:
            self._observed[exercise] = namespace[exercise]

    def _seen_by(self, number: int, namespace: dict[str, Any]) -> dict[str, Any]:
        seen = self._kept.get(number, namespace) if number in self._tests else namespace
        if number not in self._late:
            return seen
        return {**seen, **self._kept.get(self._late[number], {}), **self._observed}


def _exchange(namespace: dict[str, Any], names: dict[str, Any]) -> None:
    """Replace what is in a namespace, which is kept: functions look their names up in it."""
    namespace.clear()
    namespace.update(names)

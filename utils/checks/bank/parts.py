"""Known mistakes of the functions that a right answer calls, made where it calls them.

Whoever writes such a function out in full makes its mistakes in an exercise that has a table of its
own, which need not say them again.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from utils.checks.bank.patched import Edit, Patched
from utils.checks.bank.source import Source
from utils.checks.exercise import Exercise, Mistake


def mistakes_of_parts(
    exercise: Exercise, source: Source, find: Callable[[str], Exercise | None]
) -> tuple[Mistake, ...]:
    """Return the mistakes of the parts that an exercise does not know itself.

    Args:
        exercise: with its own mistakes, which come first where both have one of the same name.
        source: the exercise's right answer.
        find: returns an exercise by its id, or None if there is none.

    """
    parts = (find(name) for name in exercise.probe.stand_ins)
    known = {mistake.name for mistake in exercise.mistakes}
    return tuple(
        mistake
        for part in parts
        if part is not None and not inspect.isclass(part.oracle)
        for mistake in _made_in(source, part, exercise.probe.stand_ins, known)
    )


def _made_in(
    source: Source, part: Exercise, stand_ins: Mapping[str, Any], known: Collection[str]
) -> Iterator[Mistake]:
    """Yield what an answer would be that calls a part with one of its mistakes."""
    wrong = f"wrong_{part.id}"  # its own name is the right one's while an answer is observed
    edits = tuple(Edit(start, end, wrong) for start, end in source.uses(part.id))
    for mistake in part.mistakes:
        if edits and mistake.answer is not None and mistake.name not in known:
            yield replace(
                mistake,
                name=f"{mistake.name}_in_{part.id}",
                answer=Patched(source, edits, {**stand_ins, wrong: mistake.answer}),
            )

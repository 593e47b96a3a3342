"""Errors of the check's own code, which must never reach a student as theirs."""

import contextlib
import inspect
import re
import traceback
from collections.abc import Iterator
from typing import Any, Final

from utils.checks.observe.answer_code import functions_of
from utils.checks.observe.students_line import is_of_the_course, is_ours
from utils.checks.verdict import Note

_READING: Final = (
    "The check itself stopped at what your code gives ({}). If that has the form that is asked "
    "for, the fault is the check's: tell your instructor."
)
_EXPLAINING: Final = (
    "The check itself stopped with an error, which is no fault of yours. What it has said holds, "
    "but there may be more to say. Please tell your instructor:"
)


def is_of_the_check(error: BaseException, answer: Any) -> bool:
    """Return whether no code of an answer's was running when an error came up.

    An answer that is called in another way than its stub says is its own fault, though the line
    that calls it is not. Oracles and known mistakes are all the course's code.
    """
    functions = functions_of(answer)
    if not functions or any(is_ours(f.__code__.co_filename) for f in functions):
        return False
    frames = [frame for frame, _line in traceback.walk_tb(error.__traceback__)]
    if any(not is_ours(frame.f_code.co_filename) for frame in frames):
        return False
    if inspect.isclass(answer) and any(
        isinstance(frame.f_locals.get("self"), answer) for frame in frames
    ):
        return False  # what it inherits is running
    called = rf"{re.escape(answer.__qualname__)}(?:\.\w+)?\(\) "
    return not (isinstance(error, TypeError) and re.match(called, str(error)))


def is_raised_by_the_check(error: BaseException) -> bool:
    """Return whether an error comes from the course's code, not torch's, and no student's."""
    files = [frame.f_code.co_filename for frame, _line in traceback.walk_tb(error.__traceback__)]
    return all(map(is_ours, files)) and is_of_the_course(files[-1])


def of_reading(words: str) -> str:
    """Return what a student reads of an error that came up while their results were read."""
    return _READING.format(words)


@contextlib.contextmanager
def told_as_own(notes: list[Note]) -> Iterator[None]:
    """Go on after an error of the check's own, and note that it is one."""
    try:
        yield
    except Exception as error:  # whatever it is, no student should meet it as theirs
        words = " ".join(str(error).split())[:200]
        notes.append(Note(_EXPLAINING, (f"{type(error).__name__}: {words}",)))

"""The defaults of a student's arguments, held against the stub's."""

import inspect
from typing import Any

from utils.checks.observation import AnswerError, ProblemKind


def require_defaults(answer: Any, **stub: float) -> None:
    """Check that arguments that are left out mean what the stub says.

    An argument without a number as its default is passed over: the answer may find the number in
    its body.

    Raises:
        AnswerError: an argument has another number as its default.

    """
    try:
        parameters = inspect.signature(answer).parameters
    except (TypeError, ValueError):  # it does not tell
        return
    for name, wanted in stub.items():
        found = parameters[name].default if name in parameters else wanted
        if type(found) in (int, float) and found != wanted:
            message = f"Where {name} is left out, it should be {wanted:g}; yours is {found:g}."
            raise AnswerError(ProblemKind.RETURN, message)

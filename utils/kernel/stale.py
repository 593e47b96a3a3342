"""Tell whether an answer is still what the student's cell says.

A name keeps its value when the cell that gave it is run again and stops, or makes another name. A
check of that value says nothing of what the student sees.
"""

from typing import Any, Final

from utils.kernel.runs import Log, Run, watch
from utils.words import an, listed

_EARLIER: Final = "This is your earlier version's result: it does not count."


def doubt(name: str, answer: Any, *, passed: bool, is_stub: bool) -> str:
    """Return why a check's result does not count, in a sentence; nothing if it does.

    Args:
        name: the exercise's id.
        answer: what was checked.
        passed: whether it passed; another object than the notebook's may fail for a lesson's sake.
        is_stub: whether it was not written at all.

    """
    log = watch()
    if log is None:
        return ""
    if log.shell.user_ns.get(name) is not answer:
        return f"This is another object than the notebook's `{name}`." if passed else ""
    tried = log.last_try(name)
    if tried is None:
        return _doubt_about_helpers(log, name)
    end = "There is nothing new to check." if is_stub else _EARLIER
    return f"Your cell's last run {how_it_ended(tried, name)}. {end}"


def _doubt_about_helpers(log: Log, name: str) -> str:
    """Return why a function that an answer calls is not the student's last version of it."""
    for helper in log.helpers(name):
        if (tried := log.last_try(helper)) is not None:
            ended = f"`{name}` uses `{helper}`, whose cell's last run {how_it_ended(tried, helper)}"
            return f"{ended}. {_EARLIER}"
    return ""


def missing(log: Log, name: str) -> str:
    """Return why an answer's cell did not make it, in a sentence; nothing if that is not known."""
    tried, deleting = log.last_try(name), log.deleted.get(name)
    if deleting is not None and (tried is None or tried.started <= deleting.started):
        return f"`{name}` is not there any more: it was deleted. Run the cell that makes it again."
    if tried is None or tried.needed:
        return ""
    return f"There is no `{name}` yet: its cell's last run {how_it_ended(tried, name)}."


def how_it_ended(run: Run, name: str) -> str:
    """Return how a cell's run ended that did not make a name."""
    if run.error:
        where = f" in line {run.line}" if run.line else ""
        by_hand = run.error == "KeyboardInterrupt"
        return f"was stopped{where}" if by_hand else f"stopped with {an(run.error)}{where}"
    made = [f"`{other}`" for other in sorted(run.names.makes)]
    return f"makes {listed(made)}, not `{name}`" if made else f"does not make `{name}`"

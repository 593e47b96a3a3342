"""How far an isolated process came, told by itself: what it began, what ended early, its end.

The process runs student code, so this decides no score: it says where to go on without a step that
never ends, and what the student is told.
"""

import builtins
import json
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from grader.sandbox import Ended, Ending

MOST_NUMBER: Final = 1_000_000
MOST_BYTES: Final = 400  # of an event
MOST_NAME: Final = 100  # characters of an error's name
NO_ERROR: Final = "an exception"  # in place of a name that a student made up
EVENT: Final = b'{"event"'  # how one begins
DONE: Final = b'{"event": {"what": "done"'
FRAME: Final = re.compile(r'File "<cell (\d{1,6})>", line (\d{1,6})')

TIMEOUT: Final = "Timeout (0:"  # how faulthandler begins


class What(StrEnum):
    """What happened to a step."""

    FAILED = "failed"
    STOPPED = "stopped"
    DONE = "done"  # with all steps


Number = Annotated[int, Meta(ge=-1, lt=MOST_NUMBER)]


class Event(msgspec.Struct, frozen=True):
    """One thing that happened.

    Attributes:
        step: the step's number in the plan.
        case: the number of the case, for a step that observes.
        cell: the step whose code was running; -1 if that is not known.
        line: the line in it; 0 if that is not known.
        error: the name of a built-in exception, for a cell that failed.

    """

    what: What
    step: Number = 0
    case: Number = 0
    cell: Number = -1
    line: Number = 0
    error: str = ""

    def message(self) -> bytes:
        """Write it as a message."""
        error = self.error[:MOST_NAME].encode("ascii", "replace").decode()
        return json.dumps({"event": asdict(self) | {"error": error}}).encode()


def events(messages: Sequence[bytes]) -> list[Event]:
    """Read the events among messages; what is not in the form of one is left out."""
    return [event for raw in messages if (event := _event(raw)) is not None]


def _event(raw: bytes) -> Event | None:
    if len(raw) > MOST_BYTES or not raw.startswith(EVENT):
        return None
    with suppress(ValueError, RecursionError):
        event = msgspec.json.decode(raw, type=dict[str, Event])["event"]
        return replace(event, error=error_name(event.error))
    return None


def error_name(name: str) -> str:
    """Return the name of a built-in exception; a made-up one could say anything."""
    return name if isinstance(getattr(builtins, name, None), type) else NO_ERROR


def is_done(ended: Ended) -> bool:
    """Return whether a process came to the end of its steps."""
    told = [raw for raw in ended.messages if raw.startswith(DONE)]
    return any(event.what == What.DONE for event in events(told))


def status_of(ended: Ended) -> Ending:
    """Return how a process ended, with what only its steps show.

    It crashed if it ended itself on the way, and timed out if its own watch ended it.
    """
    if ended.status == Ending.FINISHED and not is_done(ended):
        return Ending.CRASHED
    if ended.status == Ending.CRASHED and TIMEOUT in ended.stderr:
        return Ending.TIMED_OUT
    return ended.status


def is_killed(ended: Ended) -> bool:
    """Return whether others killed a process: behind its walls it can send no signal."""
    return ended.status == Ending.CRASHED and ended.signal == signal.SIGKILL


def stuck_at(ended: Ended) -> Event | None:
    """Return the step that a process did not come back from; None if there is none.

    Of one that came to its end the watcher keeps no note. Its messages would not show that: a job's
    are those of several processes, of which others may have come to their end.
    """
    step, case = ended.reached
    if not (0 <= step < MOST_NUMBER and 0 <= case < MOST_NUMBER):
        return None
    frame = FRAME.search(ended.stderr)
    cell, line = map(int, frame.groups()) if frame else (-1, 0)
    return Event(What.STOPPED, step, case, cell, line)

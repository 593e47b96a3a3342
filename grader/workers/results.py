"""A job's results on their way from a watcher to the judging process."""

import json
import pickle
import select
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Final

from grader.sandbox import CannotIsolate, Ended, Ending

RESULT_LENGTH: Final = struct.Struct("<Q")
POOL_READY: Final = b"ready\n"
MOST_PAUSE: Final = 60_000  # milliseconds within a result, which is written in one go


class NotStarted(RuntimeError):
    """A fork server ended before a watcher came to be."""


@dataclass(frozen=True)
class TrialRun:
    """The result of one isolated process.

    Attributes:
        ended: how it ended; its messages are those not about a trial.
        verdicts: verdicts on versions, as messages.
        more: whether another trial run follows.

    """

    ended: Ended
    verdicts: tuple[bytes, ...]
    more: bool


def write_ready(results: IO[bytes]) -> None:
    """Tell the judging side that a watcher waits for jobs."""
    results.write(POOL_READY)
    results.flush()


def write_result(results: IO[bytes], run: TrialRun) -> None:
    """Send a trial run's result to the judging side."""
    ended, *others = vars(run).values()
    body = pickle.dumps((vars(ended), *others))
    results.write(RESULT_LENGTH.pack(len(body)) + body)
    results.flush()


def await_ready(results: IO[bytes]) -> None:
    """Wait, on the judging side, until a watcher waits for jobs.

    Raises:
        CannotIsolate: this machine cannot isolate; the message says what is missing.
        NotStarted: the fork server ended instead; its stderr says why.

    """
    line = results.readline()
    if line and line != POOL_READY:
        raise CannotIsolate(json.loads(line))
    if not line:
        raise NotStarted(
            "A grading process could not start: the lines above say why. Set that right, then run "
            "the same command again: what was graded is recorded."
        )


def read_result(results: IO[bytes]) -> TrialRun | None:
    """Read one result, on the judging side; None if the watcher died, or stopped in the middle."""
    head = _exactly(results, RESULT_LENGTH.size)
    size = RESULT_LENGTH.unpack(head)[0] if len(head) == RESULT_LENGTH.size else 0
    body = _exactly(results, size)
    if not size or len(body) < size:
        return None
    # Written by a watcher, in which no student code ran; the student's messages stay bytes.
    ended, *others = pickle.loads(body)
    return TrialRun(Ended(**ended), *others)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes from an unbuffered stream; fewer at its end, or if it stands still."""
    taken, more = bytearray(), select.poll()
    more.register(stream, select.POLLIN)
    while len(taken) < size and more.poll(MOST_PAUSE):
        chunk = stream.read(size - len(taken))
        if not chunk:
            break
        taken += chunk
    return bytes(taken)


def as_one(runs: Sequence[TrialRun | None]) -> Ended | None:
    """Merge a job's trial runs into one result; None if one of them died.

    Its messages are those of the first trial run, and the verdicts that all trial runs agree on.
    """
    whole = [run for run in runs if run is not None]
    if len(whole) < len(runs):
        return None
    ended = [run.ended for run in whole]
    agreed = [v for v in whole[0].verdicts if all(v in run.verdicts for run in whole)]
    return replace(
        next((one for one in ended if one.status != Ending.FINISHED), ended[0]),
        messages=(*ended[0].messages, *agreed),
        wall_seconds=sum(one.wall_seconds for one in ended),
        still_seconds=sum(one.still_seconds for one in ended),
    )

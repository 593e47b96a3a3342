"""The isolated side: run a student's cells, observe their answers, send what was seen.

Nothing here decides a score. Whatever the student's code does to this process, what leaves it is
judged elsewhere, on inputs that are made afresh there.
"""

import ast
import builtins
import contextlib
import faulthandler
import linecache
import os
import re
import signal
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any, ClassVar, Final, NoReturn, Self

import torch

from grader.sandbox import Channel
from grader.workers.absent_answers import Failed, why_absent
from grader.workers.lending import PACKAGE, Borrower
from grader.workers.notebook.cell_code import Compiler, execute, file_of, line_in, names_bound
from grader.workers.notebook.names import Names
from grader.workers.notebook.no_shell import give_names
from grader.workers.progress import Event, What
from grader.workers.protocol import Message, encode
from grader.workers.trial_proxy import Proxy
from utils.checks.exercise import Case, Inputs, Probe
from utils.checks.observation import Observation, Problem, ProblemKind
from utils.checks.observe.observe import attempt, conditions
from utils.checks.registry import probes

STEP_SECONDS: Final = 15.0  # at most, for one cell, and for observing one exercise
SHARE: Final = 0.25  # of the time that is left, for one step: the others need some too
GRACE_SECONDS: Final = 1.5  # for a step to end after it was told to, at most; at least half of it
MOST_FAILED: Final = 3  # statements of a cell that are told
STDERR: Final = 2  # the descriptor: Python's own streams may be replaced
Take = Callable[[int], tuple[Case, Inputs | None]]  # a case by its number; a trial's inputs
_CELL: Final = re.compile(r"<cell (\d+)>")


class TookTooLong(BaseException):
    """A step ran out of time; not an Exception, so that no `except Exception` stops it."""


class Clock:
    """Stop a step that runs too long: by an exception first, else by ending the process.

    A loop that catches every exception, and code that never returns to Python, are ended by a
    thread of faulthandler's, which needs no interpreter lock and writes where the code was. A new
    thread takes longer than most cases, so one goes on as long as its time is about right. A step
    does without where another task of the same user has taken all threads that there may be: it is
    nobody's fault but that task's, and the watcher ends both when their time is up.

    Attributes:
        seconds: the time for the step.
        stopped: whether the step was told to end.
        place: (cell, line) of the notebook where it was then.
        ends_at: when the thread ends this process, whichever step it began in.

    """

    ends_at: ClassVar[float] = 0.0

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stopped = False
        self.place = (-1, 0)
        self._until = time.monotonic() + seconds
        signal.signal(signal.SIGALRM, self._stop)

    def __enter__(self) -> Self:
        now = time.monotonic()
        left = max(self._until - now, 0.01)
        last = now + left + GRACE_SECONDS
        if not last - GRACE_SECONDS / 2 <= Clock.ends_at <= last:
            Clock.ends_at = 0.0
            with contextlib.suppress(RuntimeError):  # of all threads that may be, none is left
                faulthandler.dump_traceback_later(left + GRACE_SECONDS, exit=True, file=STDERR)
                Clock.ends_at = last
        signal.setitimer(signal.ITIMER_REAL, left)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if Clock.ends_at - time.monotonic() < 2 * GRACE_SECONDS:
            faulthandler.cancel_dump_traceback_later()  # no step is to blame until the next begins
            Clock.ends_at = 0.0

    def _stop(self, _number: int, frame: FrameType | None) -> NoReturn:
        self.stopped, self.place = True, _place(frame)
        raise TookTooLong(f"stopped after {self.seconds:.2g} seconds")


def _place(frame: FrameType | None) -> tuple[int, int]:
    """Return the innermost cell and line of the notebook in a stack of calls."""
    while frame is not None:
        if found := _CELL.fullmatch(frame.f_code.co_filename):
            return int(found[1]), frame.f_lineno
        frame = frame.f_back
    return -1, 0


def work(steps: list[dict[str, Any]], channel: Channel, seconds: float) -> None:
    """Do what a plan says, and tell how far it came.

    Args:
        steps: Plan.as_json(), numbered, each with the count of its cases; those of a student's
            own test are hidden behind numbers (see trials). "code" of a cell is its code if it was
            compiled ahead.
        channel: to the watcher, which takes observations and answers calls.
        seconds: the time for all steps.

    """
    os.environ["COURSE_GRADING"] = "1"  # lessons then use stand-ins: see utils.notebook.carry
    sys.meta_path.insert(0, Borrower(channel.ask))
    channel.at_once = any("ended" in step for step in steps)  # another try may not follow this one
    module = _fresh_main()
    until = time.monotonic() + seconds
    failed: dict[int, list[Failed]] = {}
    compiled = Compiler({file_of(s["number"]): s["code"] for s in steps if s.get("code")})
    names = _names(steps)
    for step in steps:
        clock = Clock(min(STEP_SECONDS, SHARE * max(until - time.monotonic(), 0.0)))
        channel.reached[:] = [step["number"], 0]
        names.before(step["number"], vars(module))
        if not step["exercise"]:
            failed[step["number"]] = _run_cell(step, vars(module), channel, clock, compiled)
        elif step["exercise"] in vars(module):
            _observe_any(step, vars(module)[step["exercise"]], channel, clock)
        else:
            before = [s for s in steps if s["number"] < step["number"]]
            _tell(step, why_absent(step["exercise"], before, failed), channel)
    channel.send(Event(What.DONE).message())


def _names(steps: Sequence[Mapping[str, Any]]) -> Names:
    """Return what keeps the names that tests, and exercises that waited, are to see."""
    tests = (s["number"] for s in steps if s["exercise"] and probes()[s["exercise"]].served)
    late = {s["number"]: s["behind"] for s in steps if s.get("behind") is not None}
    return Names(tests, late, {s["number"]: s["exercise"] for s in steps if s["exercise"]})


def _fresh_main() -> types.ModuleType:
    """Make a module to run cells in, with the few names that a notebook adds."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins)
    give_names(module)
    sys.modules["__main__"] = module
    return module


def _run_cell(
    step: dict[str, Any],
    namespace: dict[str, Any],
    channel: Channel,
    clock: Clock,
    compiled: Compiler,
) -> list[Failed]:
    """Run a cell, if anything is left of it; return what failed in it.

    What fails for want of a name that a statement before it should have made is not told as well.
    """
    source, number = step["source"], step["number"]
    failed: list[Failed] = []
    missing = set[str]()
    n_told = 0
    if not source:
        return failed
    filename = file_of(number)

    def tell(error: BaseException, statement: ast.stmt | None = None) -> None:
        nonlocal n_told
        if statement is not None and clock.stopped:
            raise error  # time is up, whatever the student's code made of that
        follows = isinstance(error, NameError) and error.name in missing
        if n_told < MOST_FAILED and not follows:
            n_told += 1
            line, name = line_in(error, filename), type(error).__name__
            channel.send(Event(What.FAILED, number, 0, number, line, name).message())
        names = None if statement is None else names_bound(statement)
        missing.update(names or ())
        failed.append(Failed(type(error).__name__, names))

    try:
        with clock:
            lines = source.splitlines(keepends=True)
            linecache.cache[filename] = (len(source), None, lines, filename)
            execute(source, filename, namespace, compiled, tell)
    except BaseException as error:
        if clock.stopped:
            channel.send(Event(What.STOPPED, number, 0, *clock.place).message())
            failed.append(Failed(""))
        else:
            tell(error)
    return failed


def _tell(step: dict[str, Any], why: str, channel: Channel) -> None:
    """Say for every case why nothing could be observed."""
    nothing = Observation(problem=Problem(ProblemKind.EXCEPTION, why))
    for number in range(step["count"]):
        channel.send_later(encode(Message(step["exercise"], number, nothing)))


def _observe_any(step: dict[str, Any], answer: Any, channel: Channel, clock: Clock) -> None:
    """Observe an exercise, whatever its answer is: one may fail before it is called."""
    try:
        _observe(step, answer, channel, clock)
    except Exception as error:  # its words may fail, too
        _tell(step, f"{type(error).__name__}: it is no usual function or class", channel)
    channel.flush()


def _observe(step: dict[str, Any], answer: Any, channel: Channel, clock: Clock) -> None:
    """Observe an exercise; a case that ran too long leaves no time for those after it.

    What was seen goes out at the end, or with what is sent before that.
    """
    probe = probes()[step["exercise"]]
    # Stand-ins are not here: the watcher lends them, and knows who had one.
    forbidden = tuple(name for name in probe.forbidden if not name.startswith(PACKAGE))
    probe = replace(probe, forbidden=forbidden)
    take = _trials(probe, channel.ask) if probe.served else _cases(probe, step["cases"])
    with conditions(probe, answer, quiet=True):
        for number in range(step["count"]):
            channel.reached[:] = [step["number"], number]
            seen = _observe_case(probe, number, answer, take, clock)
            channel.send_later(encode(Message(probe.exercise, number, seen)))
            if clock.stopped:
                channel.send(Event(What.STOPPED, step["number"], number, *clock.place).message())
                return


def _observe_case(probe: Probe, number: int, answer: Any, take: Take, clock: Clock) -> Observation:
    try:
        with clock:
            case, inputs = take(number)
            return attempt(probe, case, answer, inputs)
    except BaseException as error:
        return Observation(
            problem=Problem(ProblemKind.EXCEPTION, f"{type(error).__name__}: {error}"[:400])
        )


def _cases(probe: Probe, asked: Sequence[Mapping[str, Any]]) -> Take:
    """Return how to get a case by its number; hidden cases have no name here."""

    def made(number: int) -> tuple[Case, None]:
        params = asked[number]
        visible = (case for case in probe.cases if case.params == params)
        return next(visible, Case("", params)), None

    return made


def _trials(probe: Probe, ask: Callable[[bytes], bytes]) -> Take:
    """Return what makes a trial's only input: a stand-in for the version on trial.

    It sets the seed, too: what was drawn in one trial tells nothing in the next.
    """

    def trial(number: int) -> tuple[Case, Inputs]:
        torch.default_generator.manual_seed(number)
        return Case("", {}), {probe.served: Proxy(probe.exercise, number, ask)}

    return trial

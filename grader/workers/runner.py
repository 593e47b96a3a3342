"""The isolated side: run a student's cells, observe their answers, send what was seen.

Nothing here decides a score. Whatever the student's code does to this process, what leaves it is
judged elsewhere, on inputs that are made afresh there.
"""

import builtins
import contextlib
import linecache
import os
import signal
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NoReturn

from IPython.display import display

from grader.workers.protocol import Message, encode
from grader.workers.trial_proxy import Proxy
from utils.checks.framework.exercise import Case, Probe
from utils.checks.framework.observation import Observation, Problem, ProblemKind
from utils.checks.framework.observe import attempt, conditions
from utils.checks.registry import probes

Send = Callable[[bytes], None]
Ask = Callable[[bytes], bytes]
STEP_SECONDS: Final = 20.0  # for one cell, and for observing one case
_ABSENT: Final = object()  # stands for an answer that the notebook does not define


class TookTooLong(BaseException):
    """A step ran out of time; not an Exception, so that no `except Exception` stops it."""


def work(steps: list[dict[str, Any]], send: Send, ask: Ask) -> None:
    """Do what a plan says.

    Args:
        steps: Plan.as_json(), with served cases hidden behind numbers (see trials).
        send: takes each observation as bytes.
        ask: sends a call to the monitor and returns its reply.

    """
    os.environ["COURSE_GRADING"] = "1"  # lessons then use stand-ins: see utils.notebook.carry
    module = _fresh_main()
    for number, step in enumerate(steps):
        if step["exercise"]:
            _observe(step["exercise"], step["cases"], vars(module), send, ask)
        else:
            _run_cell(step["source"], number, vars(module))


def _fresh_main() -> types.ModuleType:
    """Make a module to run cells in, with the few names that a notebook adds."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, display=display, get_ipython=_Shell)
    sys.modules["__main__"] = module
    return module


class _Shell:
    """A stand-in for get_ipython(): magics and shell commands do nothing while grading."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: None


def _run_cell(source: str, number: int, namespace: dict[str, Any]) -> None:
    """Run a cell; an error ends only this cell, as in a notebook."""
    filename = f"<cell {number}>"
    with contextlib.suppress(BaseException), _time_limit():
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        exec(compile(source, filename, "exec"), namespace)


def _observe(
    exercise: str, cases: list[dict[str, Any]], namespace: dict[str, Any], send: Send, ask: Ask
) -> None:
    probe = probes()[exercise]
    if probe.served:
        probe = replace(probe, inputs=lambda trial: {probe.served: Proxy(exercise, trial, ask)})
    answer = namespace.get(exercise, _ABSENT)
    with conditions(probe, answer, quiet=True):
        for number, params in enumerate(cases):
            seen = _observe_case(probe, params, answer)
            send(encode(Message(exercise, number, seen)))


def _observe_case(probe: Probe, params: dict[str, Any], answer: Any) -> Observation:
    if answer is _ABSENT:
        message = f"There is no `{probe.exercise}` in the notebook: its cell failed, or is gone."
        return Observation(problem=Problem(ProblemKind.EXCEPTION, message))
    try:
        with _time_limit():
            return attempt(probe, Case("", params), answer)
    except BaseException as error:
        return Observation(
            problem=Problem(ProblemKind.EXCEPTION, f"{type(error).__name__}: {error}"[:400])
        )


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_args: object) -> NoReturn:
        raise TookTooLong(f"stopped after {STEP_SECONDS:g} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, STEP_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

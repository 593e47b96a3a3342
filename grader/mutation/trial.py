"""Run a mutant on an exercise's cases."""

import contextlib
import io
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from grader.mutation.mutants import Mutant
from grader.mutation.sources import Source
from utils.checks.framework.exercise import Case, Exercise, Probe
from utils.checks.framework.expected import with_facts
from utils.checks.framework.fingerprints import Print, print_of
from utils.checks.framework.judge import judge_case
from utils.checks.framework.observation import Observation
from utils.checks.framework.observe import attempt, conditions

SECONDS = 5  # a changed loop may never end


class TooSlow(BaseException):
    """A mutant took too long; nothing of the checks catches this."""


@contextlib.contextmanager
def time_limit(seconds: int = SECONDS) -> Iterator[None]:
    """Stop what runs inside after some seconds.

    Raises:
        TooSlow: it was stopped.

    """

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def answer_of(mutant: Mutant, source: Source) -> Any:
    """Return a mutant's object, or None if its definition alone fails."""
    namespace = dict(source.beside)
    try:
        with time_limit(), contextlib.redirect_stdout(io.StringIO()):
            exec(mutant.code, namespace)
        return namespace.get(source.definition)
    except (Exception, TooSlow):
        return None


def prints(exercise: Exercise, cases: Sequence[Case], answer: Any) -> list[Print | None]:
    """Return what a mutant gives in each case, as fingerprints; None where it fails."""
    probe = replace(exercise.probe, gradient=False)
    try:
        seen = [_observed(probe, case, answer) for case in cases]
    except TooSlow:
        return [None] * len(cases)
    return [
        print_of(with_facts(exercise, case, one)) for case, one in zip(cases, seen, strict=True)
    ]


def is_caught(exercise: Exercise, cases: Sequence[Case], answer: Any) -> bool:
    """Return whether an answer is wrong in a case; cases after the first such are not tried."""
    try:
        return any(
            judge_case(exercise, case, _observed(exercise.probe, case, answer)) is not None
            for case in cases
        )
    except TooSlow:
        return True


def _observed(probe: Probe, case: Case, answer: Any) -> Observation:
    with time_limit(), conditions(probe, answer, quiet=True):
        return attempt(probe, case, answer)

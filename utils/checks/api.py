"""``check``, the one name that notebooks import to have answers judged."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from utils.checks.case_results import points_alone
from utils.checks.exercise import Case, Exercise, ExerciseKind, hidden_case
from utils.checks.explain.asked.own_object import OwnObject
from utils.checks.explain.seen.silent_tests import reasons_of
from utils.checks.judge import judge
from utils.checks.live.next_step import with_a_next_step
from utils.checks.live.no_prompts import no_prompts
from utils.checks.observe.heard import listening, silence
from utils.checks.observe.kept_inputs import keeping
from utils.checks.observe.observe import observe_all, one_thread
from utils.checks.observe.own_errors import told_as_own
from utils.checks.observe.students_line import line_of
from utils.checks.registry import exercises, find_exercise, probes
from utils.checks.render import as_mimebundle, as_text
from utils.checks.verdict import Note, Verdict
from utils.kernel.errors import AlreadyTold, explain_errors
from utils.kernel.runs import watch
from utils.kernel.say import say
from utils.kernel.stale import doubt
from utils.kernel.waiting import Waiting, told_while_waiting
from utils.progress.checked import record_check
from utils.progress.tries import is_lent, note_try, warn_before_cells


@cache
def _lendable() -> Mapping[str, bool]:
    """Return all exercises, and whether each can be lent."""
    return {name: probe.is_lendable for name, probe in probes().items()}


if (log := watch(explain_errors, warn_before_cells)) is not None:
    log.exercises = _lendable


_NOTHING: Final = object()  # stands for an answer that is not given


def show(verdict: Verdict) -> None:
    """Show a verdict, as HTML in a notebook and as text elsewhere."""
    if InteractiveShell.initialized():
        display(as_mimebundle(verdict), raw=True)
    else:
        print(as_text(verdict))


@cache
def settle() -> None:
    """Let the collector take what is loaded by now for granted; the first check does it.

    Otherwise it walks through all of torch, matplotlib and Jupyter every few checks, for a tenth
    of a second, while somebody waits.
    """
    gc.freeze()


class ExerciseCheck:
    """The check of one exercise."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise

    def __repr__(self) -> str:
        name = self._exercise.id
        return f"<check of {name}: call it with your answer, check.{name}({name})>"

    def __call__(
        self,
        answer: Any = _NOTHING,
        *,
        points: float | None = None,
        hidden: Sequence[Mapping[str, Any]] = (),
    ) -> float | None:
        """Judge an answer and show the verdict.

        Args:
            answer: the student's function, class or prediction.
            points: what the exercise is worth; only in grading.
            hidden: hidden cases; only in grading.

        Returns:
            The points earned if ``points`` is given (nbgrader takes a test cell's last value as
            its grade), else None.

        """
        if answer is _NOTHING:
            say(f"Give the check your answer: `check.{self._exercise.id}({self._exercise.id})`.")
            return None
        if points is None:
            own: list[Note] = []
            with told_as_own(own):
                self._show_and_record(answer)
            for note in own:
                say(note.says, *note.lines)
            return None
        verdict = self.verdict(answer, points=points, hidden=hidden)
        show(verdict)
        return verdict.score

    def _show_and_record(self, answer: Any) -> None:
        settle()
        probe = self._exercise.probe
        if is_lent(probe.exercise, answer):
            say(f"This `{probe.exercise}` is the course's, lent to you. Run your own cell again.")
            return
        verdict = self._found(answer)
        show(verdict)
        started = bool(verdict.doubt) or not verdict.is_stub
        record_check(probe.exercise, answer, passed=verdict.passed, started=started)
        if verdict.doubt:
            if not verdict.results and watch() is not None:
                raise AlreadyTold  # it was interrupted: the cells that wait are not run either
            return
        offer = note_try(
            probe.exercise,
            right=verdict.idea_is_right,
            tried=not verdict.is_stub,
            lendable=probe.is_lendable,
            built_on=probe.stand_ins,
        )
        if offer:
            say(offer)

    def _found(self, answer: Any) -> Verdict:
        """Judge an answer for somebody who waits, and may lose patience."""
        name = self._exercise.id
        with told_while_waiting(f"The check of `{name}`") as waiting:
            try:
                with no_prompts():
                    found = self.verdict(answer, waiting=waiting)
            except KeyboardInterrupt as stopped:
                return Verdict(name, (), doubt=_of_interrupt(waiting, line_of(stopped)))
        doubted = doubt(name, answer, passed=found.passed, is_stub=found.is_stub)
        return replace(with_a_next_step(self._exercise, found), doubt=doubted)

    def verdict(
        self,
        answer: Any,
        *,
        points: float | None = None,
        hidden: Sequence[Mapping[str, Any]] = (),
        waiting: Waiting | None = None,
    ) -> Verdict:
        """Judge an answer without showing anything; `waiting` is kept up to date meanwhile."""
        probe = self._exercise.probe
        cases = (*probe.cases, *map(hidden_case, hidden))
        again: OwnObject | None = None
        own: list[Note] = []
        with told_as_own(own):
            again = OwnObject(answer) if points is None else None
        with one_thread():
            with listening() as heard:
                asked = keeping(probe)
                asking = cases if waiting is None else _one_by_one(cases, waiting)
                observations = observe_all(asked, asking, answer, quiet=points is not None)
            with silence():
                found = None
                with told_as_own(own):
                    is_test = probe.kind == ExerciseKind.TEST_THE_TEST
                    reasons = reasons_of(answer) if is_test else ()
                    found = judge(
                        self._exercise, cases, observations, points, reasons=reasons, own=again
                    )
                if found is None:
                    found = points_alone(self._exercise, cases, observations, points)
        return replace(found, notes=(*own, *(heard.notes() if points is None else ())))

    def results(self, answer: Any) -> Verdict:
        """Judge an answer by the visible cases as `verdict` does; no cause is sought."""
        probe = self._exercise.probe
        with one_thread():
            with listening():
                observations = observe_all(keeping(probe), probe.cases, answer)
            with silence():
                return points_alone(self._exercise, probe.cases, observations)


def _one_by_one(cases: Sequence[Case], waiting: Waiting) -> Iterator[Case]:
    """Yield cases, and note which one is asked."""
    for each in cases:
        waiting.step = f"in its case “{each.name}”"
        yield each
    waiting.step = "looking for the cause of what it found"


def _of_interrupt(waiting: Waiting, line: str) -> str:
    """Return what is said of a check that was stopped by hand."""
    where = [waiting.step, f"in your line `{line}`" if line else ""]
    return (
        ", ".join([f"You stopped this check after {waiting.seconds}", *filter(None, where)]) + "."
    )


class Check:
    """The checks of all exercises, by id: ``check.<id>(answer)``."""

    def __getattr__(self, name: str) -> ExerciseCheck:
        if name.startswith("_"):
            raise AttributeError(name)  # IPython asks for many names that no exercise has
        return ExerciseCheck(find_exercise(name))

    def __dir__(self) -> list[str]:
        return list(exercises())

    def __repr__(self) -> str:
        return f"<checks of {len(exercises())} exercises: {', '.join(exercises())}>"


check = Check()

"""Question an answer and record what comes back, as plain data.

This half runs next to the student's code. It knows no oracle and no mistake, and its reports are
judged elsewhere.
"""

import contextlib
import functools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeGuard

import torch

from utils.checks.exercise import Case, Inputs, Probe
from utils.checks.observation import (
    AnswerError,
    Observation,
    Plain,
    Problem,
    ProblemKind,
    plain,
)
from utils.checks.observe.forbidden import Forbidden, absent, refused
from utils.checks.observe.heard import silence
from utils.checks.observe.overwriting import Overwritten, is_about_writing, watching
from utils.checks.observe.own_errors import (
    is_of_the_check,
    is_raised_by_the_check,
    of_reading,
)
from utils.checks.observe.students_line import line_of
from utils.checks.observe.substitution import standing_in
from utils.checks.observe.torch_state import put_back, usual_torch

MOST_KEPT: Final = 1 << 12  # entries whose weights are kept
_ADVICE: Final = re.compile(r" Hint: [^.]*(?:anomaly|backtrace).*")


def observe(probe: Probe, case: Case, answer: Any, *, trusted: bool = False) -> Observation:
    """Call an answer on one case.

    Args:
        probe: how the exercise is questioned.
        case: the parameters of the question.
        answer: the student's object or, on the trusted side, an oracle or a known mistake.
        trusted: whether to leave the forbidden shortcuts in place (oracles are built on them).

    """
    if trusted:
        with silence(), usual_torch():
            return attempt(replace(probe, forbidden=()), case, answer)
    with conditions(probe, answer):
        return attempt(probe, case, answer)


def observe_all(
    probe: Probe, cases: Iterable[Case], answer: Any, *, quiet: bool = False
) -> list[Observation]:
    """Call an answer on every case, under `conditions`."""
    with conditions(probe, answer, quiet=quiet):
        return [attempt(probe, case, answer) for case in cases]


@contextlib.contextmanager
def conditions(probe: Probe, answer: Any, *, quiet: bool = False) -> Iterator[None]:
    """Set the conditions of observation: no shortcuts, right earlier exercises, usual torch.

    If quiet (as in grading), the answer's prints and warnings are discarded.
    """
    with (
        silence() if quiet else contextlib.nullcontext(),
        usual_torch(),
        absent(probe.forbidden),
        standing_in(probe.stand_ins, answer),
    ):
        yield


def attempt(probe: Probe, case: Case, answer: Any, inputs: Inputs | None = None) -> Observation:
    """Call an answer on one case, with `conditions` already in force.

    Args:
        probe: how the exercise is questioned.
        case: the parameters of the question.
        answer: what is called.
        inputs: those of a trial, which only the process that serves it can make.

    """
    try:
        made = probe.make(case.params) if inputs is None else inputs
        seen = _observe(probe, case, answer, made)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        again = inputs is None and is_about_writing(error)
        found = _watched(probe, case, answer) if again else None
        if found is None and is_of_the_check(error, answer):
            seen = Observation(problem=_of_the_check(error))
        else:
            seen = Observation(problem=explain_exception(found or error))
    left = put_back()
    if left and (seen.problem is None or seen.problem.kind == ProblemKind.BACKWARD):
        return Observation(problem=Problem(ProblemKind.EXCEPTION, left))
    return seen


def _watched(probe: Probe, case: Case, answer: Any) -> Overwritten | None:
    """Call an answer once more, to see which line of it writes where it must not."""
    try:
        with watching():
            _results(probe, answer, probe.make(case.params))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error if isinstance(error, Overwritten) else None
    return None


def _observe(probe: Probe, case: Case, answer: Any, inputs: Inputs) -> Observation:
    """Take results and gradients from one call, which costs less than a call for each.

    A call that changes its inputs, or that torch stops, may be stopped for the gradients alone that
    are recorded: then each gets a call of its own.
    """
    before = _copy(inputs)
    if not probe.asks_gradients(case):
        return _observe_results(probe, before, inputs, answer)
    with contextlib.suppress(RuntimeError):  # if the answer is to blame, it will fail again
        seen = _observe_both(probe, before, inputs, answer)
        if not seen.changed:
            return seen
    inputs = _copy(before)
    seen = _observe_results(probe, before, inputs, answer)
    gradients, problem = _observe_gradients(probe, _copy(before), answer)
    if problem is None:
        return replace(seen, gradients=gradients)
    changed = _written(inputs, seen.changed)
    gradients, found = _observe_gradients(probe, _copy(before), answer, watched=True)
    return replace(
        seen,
        changed=changed,
        gradients=gradients if changed else {},
        problem=found or (None if changed else problem),
    )


def _observe_results(probe: Probe, before: Inputs, inputs: Inputs, answer: Any) -> Observation:
    return _seen(before, inputs, _results(probe, answer, inputs))


def _observe_both(probe: Probe, before: Inputs, inputs: Inputs, answer: Any) -> Observation:
    leaves = _leaves(inputs)
    results = _results(probe, answer, inputs)
    seen = _seen(before, inputs, results)
    return seen if seen.changed else Observation(seen.values, _gradients(leaves, results))


def _results(probe: Probe, answer: Any, inputs: Inputs) -> Mapping[str, object]:
    with refused(probe.forbidden):
        return probe.call(answer, inputs)


def _seen(before: Inputs, inputs: Inputs, results: Mapping[str, object]) -> Observation:
    values = {name: plain(value) for name, value in results.items()}
    changed = tuple(name for name in before if not _same(before[name], inputs[name]))
    return Observation(values, changed=changed)


def _written(inputs: Inputs, changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs that a call wrote into, also where it left the same numbers.

    Backward refuses either: a condition that holds everywhere leaves nothing to zero.
    """
    counted = (n for n, x in inputs.items() if isinstance(x, torch.Tensor) and x._version > 0)
    return tuple(dict.fromkeys((*changed, *counted)))


def _observe_gradients(
    probe: Probe, inputs: Inputs, answer: Any, *, watched: bool = False
) -> tuple[dict[str, Plain], Problem | None]:
    """Compute the gradients of a fixed weighted sum of all results, for every float input.

    An answer that is watched gets copies, and what torch needs of them is kept: so writing into
    inputs costs no more than it must, and gradients that are not there are seen all the same.
    """
    leaves = _leaves(inputs)
    copies = {name: leaf.clone() for name, leaf in leaves.items()} if watched else {}
    given = inputs | copies
    try:
        with watching(given.values()) if watched else contextlib.nullcontext():
            return _gradients(leaves, probe.call(answer, given)), None
    except (RuntimeError, ValueError, AssertionError) as error:
        if is_raised_by_the_check(error) and not isinstance(error, Overwritten):
            return {}, _of_the_check(error)
        return {}, Problem(ProblemKind.BACKWARD, _words_of(error), _line_of(error))


def _leaves(inputs: Inputs) -> Inputs:
    return {name: x.requires_grad_() for name, x in inputs.items() if _is_float(x)}


def _gradients(leaves: Inputs, results: Mapping[str, object]) -> dict[str, Plain]:
    sums = [_weighted_sum(x) for x in results.values() if _is_traced(x)]
    if not sums or not leaves:
        return dict.fromkeys(leaves)
    with torch.autograd.set_detect_anomaly(False):  # a NaN may be right; it is told by its value
        found = torch.autograd.grad(sums, list(leaves.values()), allow_unused=True)
    return {name: plain(gradient) for name, gradient in zip(leaves, found, strict=True)}


def _is_traced(value: object) -> TypeGuard[torch.Tensor]:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _weighted_sum(result: torch.Tensor) -> torch.Tensor:
    """Add up a result's entries, each with a weight of its own.

    The plain sum of a softmax has no gradient at all. To give `torch.autograd.grad` the weights
    instead would load half a second of modules in a notebook's first check.
    """
    return (result.flatten() * _weights(result.numel(), result.dtype)).sum()


def _weights(n: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the weights of n entries; those of the first are made once."""
    return (_kept_weights()[:n] if n <= MOST_KEPT else _new_weights(n)).to(dtype)


def _new_weights(n: int) -> torch.Tensor:
    return torch.arange(n, dtype=torch.float32).cos()


@functools.cache
def _kept_weights() -> torch.Tensor:
    return _new_weights(MOST_KEPT)


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _copy(inputs: Inputs) -> Inputs:
    return {k: _copied(v) for k, v in inputs.items()}


def _copied(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):  # inputs of an earlier call: it may write into them, too
        return _copy(value)
    return list(value) if isinstance(value, list) else value


def _same(before: object, after: object) -> bool:
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(operator.is_, before, after))
    if not isinstance(before, torch.Tensor):
        return True
    if not isinstance(after, torch.Tensor) or before.shape != after.shape:
        return False
    # Only where NaN may stand, which equals nothing, is it worth taking it out.
    return torch.equal(before, after) or torch.equal(before.nan_to_num(), after.nan_to_num())


def explain_exception(error: BaseException) -> Problem:
    """Say in a sentence what stopped the student's code, and on which line of theirs."""
    if isinstance(error, AnswerError):
        return Problem(error.kind, str(error))
    if _is_stub(error):
        return Problem(ProblemKind.STUB, "This exercise is not written yet.", line_of(error))
    if isinstance(error, Forbidden):
        return Problem(ProblemKind.FORBIDDEN, str(error), line_of(error))
    name = "RuntimeError" if isinstance(error, Overwritten) else type(error).__name__
    return Problem(ProblemKind.EXCEPTION, f"{name}: {_words_of(error)[:400]}", _line_of(error))


def _of_the_check(error: BaseException) -> Problem:
    if isinstance(error, (AnswerError, Forbidden)) or _is_stub(error):  # meant for the student
        return explain_exception(error)
    words = f"{type(error).__name__}: {_words_of(error)[:200]}"
    return Problem(ProblemKind.CHECK, of_reading(words))


def _words_of(error: BaseException) -> str:
    """Return an error's message, less torch's advice to switch on the detection of anomalies."""
    return _ADVICE.sub("", " ".join(str(error).split()))


def _line_of(error: BaseException) -> str:
    return error.line if isinstance(error, Overwritten) else line_of(error)


def _is_stub(error: BaseException) -> bool:
    """Return whether a stub was reached: its message, or lack of one, differs from torch's."""
    unwritten = isinstance(error, NotImplementedError)
    return unwritten and (not str(error) or str(error).endswith(" is not written yet"))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: for tensors this small, waking other threads costs far more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

"""Mistakes that any exercise can meet, which the kind of difference reveals."""

import re
from dataclasses import replace

import numpy as np

from utils.checks.compare.closeness import close
from utils.checks.compare.compare import PREDICTION, Finding
from utils.checks.compare.rounded import is_rounded
from utils.checks.exercise import Mistake
from utils.checks.explain.asked.one_setting import is_right_without
from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.explain.situation import Explanation, Situation, by
from utils.checks.observation import Observation, Other, Plain, ProblemKind
from utils.checks.observe.expected import expected_of

GENERAL = {
    "changed": Mistake(
        "changes_its_input",
        "Your code writes into a tensor that belongs to the caller.",
        "Names that end in an underscore (masked_fill_) and assignments like x[...] = ... work in "
        "place. Use the form that returns a new tensor.",
    ),
    "dtype": Mistake(
        "changes_the_dtype",
        "The result has a different number type from the one it should have.",
        "Compare the two dtypes. A tensor that you make yourself has the one that you ask "
        "for (dtype=...): use the input's, where there is an input.",
    ),
    "backward": Mistake(
        "breaks_backward",
        "Training would fail here: backward() cannot get through your code.",
        "The message is torch's own: it says what backward() met.",
    ),
    "chance": Mistake(
        "random_results",
        "Something random is at work: a draw (multinomial, rand), dropout, or weights that are "
        "made again in each call.",
        "Nothing random is asked for here.",
    ),
    "kept": Mistake(
        "calls_differ",
        "A second call with the same inputs gives something else, and not for the random numbers "
        "that torch, numpy and Python draw.",
        "Something is kept from one call to the next (in self, in a global name or in a default "
        "value), or comes from elsewhere, such as the clock.",
    ),
    "nothing": Mistake(
        "returns_nothing",
        "Your code ran to its end and returned nothing.",
        "Is there a `return`, and is it reached?",
    ),
}

SEVERAL_FOR_ONE = Mistake(
    "several_for_one",
    "Several results are returned; one was asked for.",
    "Look at what comes after `return`: a comma makes a tuple.",
)
_ONES_FOR_TRUE = Mistake(
    "ones_for_true",
    "The entries are right, but for being 1 and 0 in the place of True and False.",
    "A comparison gives a boolean tensor, and so does `dtype=torch.bool` where a tensor is made.",
)
_ADDED_FOR_TRUE = Mistake(
    "added_for_true",
    "0 stands where True is asked for, and minus infinity, or as good as that, where False is: "
    "numbers to be added to others.",
    "Return the truth values themselves; who uses them may make numbers of them.",
)
_NUMBERS_FOR_TRUE = Mistake(
    "numbers_for_true",
    "Numbers stand where True and False are asked for.",
    "A comparison gives a boolean tensor.",
)
_ROUNDED = Mistake(
    "rounded",
    "This is right as far as it goes, but it is rounded.",
    "Here every digit counts.",
)
_OF_NUMPY = Mistake(
    "returns_numpy",
    "The result is a numpy array; a tensor is asked for.",
    "numpy records no gradients and cannot use a GPU. torch has the same functions: stay with "
    "tensors.",
)
_NUMPY_FOR_A_NUMBER = Mistake(
    "numpy_for_a_number",
    "The result is a numpy array; a plain number is asked for.",
    "`.item()` or float(...) turns an array of one entry into one.",
)
REMEMBERS = Mistake(
    "remembers_an_earlier_call",
    "Your code remembers an earlier call: the first call is right, but a call after one with "
    "other inputs is not.",
    "Something is kept in self, in a global name or in a default value. If you keep a table, use "
    "it again only where everything that it depends on is the same: length, width, base, number "
    "type, device.",
)
_WRONG_AFTER_CALLS = replace(
    REMEMBERS,
    message=(
        "What is called first is right in the cases before this one; here, after calls with other "
        "inputs, it is not."
    ),
)
_ASKED_AGAIN = replace(
    REMEMBERS,
    message=(
        "Your code remembers an earlier call: the first call is right, but a second one is not."
    ),
    hint=(
        "Something is kept in self, in a global name or in a default value: what a call fills in "
        "has to be made in that call."
    ),
)
_CALLS_DIFFER = Mistake(
    "calls_differ",
    "Two calls with the same input differ in eval mode: something is kept from one call to the "
    "next, or drawn at random.",
    "What does a call leave behind in self, in a global name or in a default value, and is that "
    "read by the next one?",
)
_ALIKE = "two calls in eval mode agree"  # a fact that probes report
_SECOND = " of a second call"  # ends the name of a result that is asked for twice
_CHANGES_WHAT_IS_GIVEN = Mistake(
    "changes_what_it_is_given",
    "Your code changes something that belongs to the caller: {}.",
    "sort(), append(), pop(), += and assignments like x[...] = ... work in place. sorted(...), + "
    "and copies leave the original alone.",
)
_KEPT = re.compile(r"the (.+) (?:are as they were|is as it was)")  # a fact that probes report
_LARGE = 1e3  # numbers that take a score out of a softmax
_CUT = Mistake(
    "cuts_the_gradient",
    "Something on the way from this input to the result stops the gradient.",
    "Look for detach(), .data, .item(), numpy, torch.no_grad or a tensor rebuilt by "
    "torch.tensor(...).",
)
_NAN = Mistake(
    "gradient_is_nan",
    "The result is right, but its gradient has a NaN: one training step would spread it.",
    "The gradient still goes through a NaN or an infinity that is removed later. Keep it from "
    "coming up in the first place: torch.where on the result is too late, since the way back goes "
    "through both of its branches.",
)
_IN_PART = Mistake(
    "gradient_in_part",
    "The result is right, but its gradient is incomplete or wrong.",
    "Where a value reaches the result in two ways, both must carry gradient: look for detach(), "
    ".data, .item(), numpy or torch.no_grad on one of them.",
)


def explain(situation: Situation) -> Explanation | None:
    """Name the mistake that the kind of difference reveals, whatever the exercise."""
    result, seen = situation.shown.result, situation.shown.seen
    if result.finding is None or seen is None:
        return None
    return by(_general(situation, seen, result.finding))


def _general(situation: Situation, seen: Observation, shown: Finding) -> Mistake | None:
    exercise, case = situation.exercise, situation.shown.result.case
    expected = expected_of(exercise, case)
    if shown.kind == ProblemKind.GRADIENT:
        if set(seen.changed) - set(expected.changed):
            return GENERAL["changed"]
        name = shown.where.removeprefix("gradient of ")
        wanted, got = expected.gradients.get(name), seen.gradients.get(name)
        return _of_gradient(wanted, got, exercise.tolerance)
    if (memory := _of_memory(situation)) is not None:
        return memory
    # Values are compared first, and an overwritten input may be why they differ.
    if shown.kind == ProblemKind.VALUES and set(seen.changed) - set(expected.changed):
        return GENERAL["changed"]
    return _of_kind(expected, seen, shown)


def _of_memory(situation: Situation) -> Mistake | None:
    """Name that something is kept if what differs is right where no other call came first."""
    shown, params = situation.shown.result.finding, situation.shown.result.case.params
    settings = situation.exercise.settings.items()
    after = [name for name, one in settings if one.of_earlier_calls and params.get(name)]
    if after and situation.own is None:
        return _WRONG_AFTER_CALLS  # the cases before this one are right
    if after and all(is_right_without(situation, name) for name in after):
        return REMEMBERS
    if shown is None:
        return None
    if shown.where == _ALIKE:
        return _CALLS_DIFFER
    if shown.where.partition("[")[0].endswith(_SECOND):
        return _ASKED_AGAIN  # the first call's results are compared before, and are right
    return None


def _of_kind(expected: Observation, seen: Observation, shown: Finding) -> Mistake | None:
    said, right = (o.values.get(PREDICTION) for o in (seen, expected))
    if shown.where == PREDICTION and is_rounded(said, right):
        return _ROUNDED
    if shown.kind == ProblemKind.VALUES and (kept := _KEPT.fullmatch(shown.where)):
        message = _CHANGES_WHAT_IS_GIVEN.message.format(f"the {kept[1]}")
        return replace(_CHANGES_WHAT_IS_GIVEN, message=message)
    if shown.kind == ProblemKind.RETURN and _is_of_numpy(seen.values.get(shown.where)):
        return _for_which(expected.values.get(shown.where))
    if shown.kind == ProblemKind.RETURN and _are_tensors(seen.values.get(shown.where)):
        return SEVERAL_FOR_ONE
    known = _for_booleans(expected, seen, shown) or GENERAL.get(shown.kind)
    if known is None or shown.kind != ProblemKind.BACKWARD or seen.problem is None:
        return known
    return replace(known, hint=usual_cause(seen.problem) or known.hint)


def _for_booleans(expected: Observation, seen: Observation, shown: Finding) -> Mistake | None:
    """Name that numbers of any type stand where True and False are asked for."""
    wanted, got = expected.values.get(shown.where), seen.values.get(shown.where)
    if not isinstance(wanted, np.ndarray) or not isinstance(got, np.ndarray):
        return None
    if shown.kind != ProblemKind.DTYPE or wanted.dtype.kind != "b" or got.dtype.kind not in "iuf":
        return None
    low = np.less(got, -_LARGE)
    if np.where(wanted, got == 0, low).all() and low.any():
        return _ADDED_FOR_TRUE
    places = np.equal(got != 0, wanted).all() and np.isin(got, (0, 1)).all()
    return _ONES_FOR_TRUE if places else _NUMBERS_FOR_TRUE


def _are_tensors(value: Plain) -> bool:
    return isinstance(value, list) and any(isinstance(one, np.ndarray) for one in value)


def _for_which(wanted: Plain) -> Mistake | None:
    """Name what is wrong with an array of numpy's, by what is asked for in its place."""
    if isinstance(wanted, np.ndarray):
        return _OF_NUMPY
    is_number = isinstance(wanted, (int, float)) and not isinstance(wanted, bool)
    return _NUMPY_FOR_A_NUMBER if is_number else None


def _is_of_numpy(value: Plain) -> bool:
    return isinstance(value, Other) and value.description.startswith("a numpy array")


def _of_gradient(wanted: Plain, got: Plain, tolerance: float) -> Mistake | None:
    """Name the mistake in a gradient: it is cut if missing, or zero where it should not be."""
    if not isinstance(got, np.ndarray):
        return _CUT
    if not isinstance(wanted, np.ndarray):
        return None
    if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
        return None
    if np.isnan(got).any():
        return _NAN
    arrives = np.where(got == 0, wanted, got)
    return _CUT if close(wanted, arrives, 10 * tolerance).all() else _IN_PART

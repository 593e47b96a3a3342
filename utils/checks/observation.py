"""What was observed when an answer was called: plain data, no live objects."""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

Array: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Other:
    """The description of a value that no exercise expects ("a numpy array of shape (2, 3)")."""

    description: str


Plain: TypeAlias = (
    "Array | bool | int | float | str | Other | list[Plain] | dict[str, Plain] | None"
)

BY_CHANCE = "decides by chance"  # what is seen of a student's test that is random


class ProblemKind(StrEnum):
    """What can be wrong with an answer: first what prevents its observation, then the rest."""

    STUB = "stub"
    EXCEPTION = "exception"
    RETURN = "return"
    CHECK = "check"  # the check's own code failed
    CHANCE = "chance"
    KEPT = "kept"
    NOTHING = "nothing"
    ATTRIBUTE = "attribute"
    FORBIDDEN = "forbidden"
    BACKWARD = "backward"
    MISSING = "missing"
    SHAPE = "shape"
    DTYPE = "dtype"
    VALUES = "values"
    GRADIENT = "gradient"
    CHANGED = "changed"


class AnswerError(Exception):
    """The answer does not have the form that the exercise asks for.

    Attributes:
        kind: what is wrong with it.

    """

    def __init__(self, kind: ProblemKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Problem:
    """Why an answer could not be observed.

    Attributes:
        kind: what prevented its observation.
        message: one sentence for the student.
        line: the student's own line of code where it happened, if there is one.

    """

    kind: ProblemKind
    message: str
    line: str = ""

    @property
    def is_raised(self) -> bool:
        """Return whether a `raise` of the student's own stopped it, in words of their own."""
        return re.search(r"\braise \w", self.line) is not None


@dataclass(frozen=True)
class Observation:
    """Everything that is known about one call of an answer.

    Attributes:
        values: the named results.
        gradients: for each input, the gradient of a fixed weighted sum of the results; None if
            no gradient reached the input.
        changed: names of the inputs that the call changed in place.
        problem: why there are no values, or no gradients, if so.

    """

    values: Mapping[str, Plain] = field(default_factory=dict)
    gradients: Mapping[str, Plain] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    problem: Problem | None = None


def describe(value: object) -> str:
    """Describe a value in a few words that a student recognises."""
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"a numpy array of shape {value.shape}"
    if isinstance(value, Generator):
        return "a generator, which `yield` makes of a function: collect the results and return them"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(describe(item) for item in value[:4])
        return f"a {type(value).__name__} of {len(value)} ({inside}{', ...' * (len(value) > 4)})"
    what = f"a value of type {type(value).__name__}"
    if isinstance(value, dict):  # with keys of text it would have a plain form
        kinds = " and ".join(sorted({type(key).__name__ for key in value}))
        what = f"a dictionary whose keys are of type {kinds}"
    return what


def plain(value: object) -> Plain:
    """Turn a result into plain data; what has no plain form becomes a description."""
    if isinstance(value, torch.Tensor):
        return _plain_tensor(value)
    if isinstance(value, np.generic):  # a number of numpy's, which counts as one of Python's
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(item) for key, item in value.items()}
    return Other(describe(value))


def _plain_tensor(tensor: torch.Tensor) -> Array | Other:
    try:
        whole = tensor.detach().cpu().resolve_conj().resolve_neg()  # what is still to be negated
        return whole.numpy().copy()
    except (TypeError, RuntimeError):
        return Other(f"a {tensor.dtype} tensor of shape {tuple(tensor.shape)}")

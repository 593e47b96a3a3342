"""The parts of an exercise: how it is questioned (Probe) and how it is judged (Exercise)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from utils.checks.observation import Observation, Plain

Inputs = dict[str, Any]
Kind = Literal["write", "predict", "repair", "test the test"]


@dataclass(frozen=True)
class Case:
    """One question to an answer: plain parameters from which the inputs are made anew.

    Attributes:
        name: what the student reads ("with padding at the end").
        params: sizes, kinds of mask, dtype, scale; whatever the probe's ``inputs`` takes.
        required: when it fails, the exercise earns nothing (the plainest case, as a rule).
        weight: share in the exercise's points, relative to the other cases.
        hidden: known to the grader alone.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False
    weight: float = 1.0
    hidden: bool = False


def case(name: str, /, required: bool = False, weight: float = 1.0, **params: Any) -> Case:
    """Write a visible case in one line: ``case("a padded batch", B=2, T=3, mask="padding")``."""
    return Case(name, params, required, weight)


def hidden_case(entry: Mapping[str, Any]) -> Case:
    """Make a hidden case of an entry of a test cell: ``dict(case="float64", B=2, ...)``.

    Raises:
        ValueError: the entry has no name under "case".
    """
    if not isinstance(entry.get("case"), str):
        raise ValueError(f"a hidden case needs a name, case='...': {dict(entry)!r}")
    rest = {key: value for key, value in entry.items() if key != "case"}
    return Case(entry["case"], rest, hidden=True)


@dataclass(frozen=True)
class Probe:
    """How an answer is questioned. Holds nothing that would give the answer away.

    Attributes:
        exercise: the exercise's id, also the name of the student's object.
        inputs: case parameters -> named inputs (fresh tensors at every call).
        call: (answer, inputs) -> named results; calls the student's object as the contract says.
        cases: the visible cases, easiest first.
        kind: write, predict, repair or test the test.
        gradient: whether gradients of the float inputs are observed too.
        forbidden: dotted names of shortcuts that this exercise rules out, and makes absent.
        stand_ins: names of earlier exercises that the answer may call -> a right implementation
            put in their place, so that an early error costs its points once.
        served: the name of an input that is a live object to be called (a version of a function
            that the student's test is tried on); grading keeps it in another process.
    """

    exercise: str
    inputs: Callable[..., Inputs]
    call: Callable[[Any, Inputs], Mapping[str, object]]
    cases: tuple[Case, ...]
    kind: Kind = "write"
    gradient: bool = True
    forbidden: tuple[str, ...] = ()
    stand_ins: Mapping[str, Any] = field(default_factory=dict)
    served: str = ""


@dataclass(frozen=True)
class Mistake:
    """A wrong variant that people really write.

    Attributes:
        name: its id, in words joined by underscores.
        says: one sentence on what went wrong.
        hint: where to look, without giving the line away.
        answer: the variant itself, called as the student's object is; None for mistakes that are
            recognised by the kind of finding instead.
    """

    name: str
    says: str
    hint: str
    answer: Any = None


@dataclass(frozen=True)
class Invariant:
    """What must hold whatever the numbers are.

    Attributes:
        says: the broken law in one sentence ("Each row of weights must sum to one.").
        holds: (inputs, observation) -> whether it does.
    """

    says: str
    holds: Callable[[Inputs, Observation], bool]


@dataclass(frozen=True)
class Exercise:
    """A probe with what the trusted side knows: the right answer and the wrong ones.

    Attributes:
        probe: how answers are questioned.
        oracle: an independent right answer, called as the student's object is.
        mistakes: the bank of known wrong variants.
        invariants: laws that right answers keep.
        facts: what is asked of the observed values, where many are right: (inputs, values) ->
            named facts, which are compared in their place. They are found where no student code
            runs.
        tolerance: largest relative and absolute difference that counts as equal in float32
            (float64 is held to 3 thousandths of that); for predictions, the relative margin.
    """

    probe: Probe
    oracle: Any
    mistakes: tuple[Mistake, ...]
    invariants: tuple[Invariant, ...] = ()
    facts: Callable[[Inputs, Mapping[str, Plain]], dict[str, Plain]] | None = None
    tolerance: float = 1e-5

    @property
    def id(self) -> str:
        """The exercise's id."""
        return self.probe.exercise

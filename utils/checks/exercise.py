"""The parts of an exercise: how it is questioned (Probe) and how it is judged (Exercise)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from utils.checks.observation import Observation, Plain
from utils.checks.variation import VARIATION, varied_by

Inputs = dict[str, Any]


class ExerciseKind(StrEnum):
    """What an exercise asks of a student."""

    WRITE = "write"
    PREDICT = "predict"
    REPAIR = "repair"
    TEST_THE_TEST = "test the test"


@dataclass(frozen=True)
class Case:
    """One question to an answer: plain parameters from which fresh inputs are made.

    Attributes:
        name: what the student reads ("a batch of one").
        params: sizes, dtype, scale: whatever the probe's ``inputs`` takes.
        required: whether the exercise earns nothing if this case fails (usually the plainest one).
        weight: share of the exercise's points, relative to the other cases.
        hidden: whether only the grader knows it.
        demand: what it asks beside the exercise's idea, in words; empty if it tests the idea.
        results_only: whether no gradients are asked: other cases see those, and a check is quick.

    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False
    weight: float = 1.0
    hidden: bool = False
    demand: str = ""
    results_only: bool = field(default=False, repr=False)

    @property
    def is_core(self) -> bool:
        """Return whether the case tests the exercise's idea."""
        return not self.demand

    @cached_property
    def key(self) -> str:
        """What tells its parameters from those of other cases."""
        return repr(sorted(self.params.items()))


def case(
    name: str,
    /,
    required: bool = False,
    weight: float = 1.0,
    demand: str = "",
    results_only: bool = False,
    **params: Any,
) -> Case:
    """Make a visible case in one line: ``case("a batch", B=2, T=3)``."""
    return Case(name, params, required, weight, demand=demand, results_only=results_only)


def hidden_case(entry: Mapping[str, Any]) -> Case:
    """Make a hidden case from a test cell's entry: ``dict(case="float64", B=2, ...)``.

    Raises:
        ValueError: the entry has no name under "case".

    """
    if not isinstance(entry.get("case"), str):
        raise ValueError(f"a hidden case needs a name, case='...': {dict(entry)!r}")
    rest = {key: value for key, value in entry.items() if key not in ("case", "demand", "weight")}
    weight, demand = entry.get("weight", 1.0), entry.get("demand", "")
    return Case(entry["case"], rest, weight=weight, hidden=True, demand=demand)


@dataclass(frozen=True)
class Probe:
    """How an answer is questioned, with nothing that would give the answer away.

    Attributes:
        exercise: the exercise's id, also the name of the student's object.
        inputs: case parameters -> named inputs (fresh tensors on every call); call it by `make`.
        call: (answer, inputs) -> named results; calls the student's object as the contract says.
        cases: the visible cases, easiest first.
        kind: what the exercise asks of a student.
        gradient: whether gradients of the float inputs are observed too.
        forbidden: dotted names of shortcuts that this exercise rules out and makes absent.
        stand_ins: names of earlier exercises that the answer may call -> right implementations,
            or their dotted names, put in their place, so that an early error costs its points only
            once.
        served: the name of an input that is a live object to call (a version of a function on
            which the student's test is tried); grading keeps it in another process.

    """

    exercise: str
    inputs: Callable[..., Inputs]
    call: Callable[[Any, Inputs], Mapping[str, object]]
    cases: tuple[Case, ...]
    kind: ExerciseKind = ExerciseKind.WRITE
    gradient: bool = True
    forbidden: tuple[str, ...] = ()
    stand_ins: Mapping[str, Any] = field(default_factory=dict)
    served: str = ""

    def asks_gradients(self, case: Case) -> bool:
        """Return whether the gradients of the float inputs are observed in a case."""
        return self.gradient and not case.results_only

    @property
    def is_lendable(self) -> bool:
        """Return whether a lesson builds on the answer, so that a stuck student can be lent one."""
        return self.kind in (ExerciseKind.WRITE, ExerciseKind.REPAIR)

    def make(self, params: Mapping[str, Any]) -> Inputs:
        """Make a case's inputs, varied by its word if it has one."""
        own = {name: value for name, value in params.items() if name != VARIATION}
        with varied_by(str(params.get(VARIATION, ""))):
            return self.inputs(**own)


def by_exercise(*probes: Probe) -> Mapping[str, Probe]:
    """Make a module's table of probes: exercise id -> probe."""
    return {probe.exercise: probe for probe in probes}


@dataclass(frozen=True)
class Mistake:
    """A wrong variant that people really write.

    Attributes:
        name: its id, in words joined by underscores.
        message: one sentence on what went wrong.
        hint: where to look, without giving the line away.
        answer: the variant, called like the student's object, or what makes it when it is first
            tried (`combining.Deferred`); None for mistakes that are recognised by the kind of
            finding instead.

    """

    name: str
    message: str
    hint: str
    answer: Any = None


@dataclass(frozen=True)
class Invariant:
    """A law that must hold whatever the numbers are.

    Attributes:
        message: the broken law in one sentence ("Each row of weights must sum to one.").
        holds: (inputs, observation) -> whether the law holds.

    """

    message: str
    holds: Callable[[Inputs, Observation], bool]


@dataclass(frozen=True)
class Setting:
    """A parameter of cases that a student knows by a name.

    Attributes:
        plain: its plainest value.
        words: what a call is like where it has another value ("with several layers").
        others: what a call is like where it has the plainest ("with one layer").
        of_earlier_calls: whether it says that other calls come first.
        both: whether the other value is as plain, so that either may be the one that is right.

    """

    plain: Any
    words: str
    others: str
    both: bool = False
    of_earlier_calls: bool = False

    def other(self, value: Any) -> tuple[Any] | None:
        """Return the value to compare with, if there is one."""
        if value != self.plain:
            return (self.plain,)
        return (not value,) if self.both else None

    def says(self, value: Any) -> str:
        """Return what is said where a call with the other value is right."""
        here, there = (self.words, self.others)[:: 1 if value != self.plain else -1]
        return f"The same call {there} is right: look at what happens {here}."


@dataclass(frozen=True)
class Exercise:
    """A probe and what the trusted side knows: the right answer and the wrong ones.

    Attributes:
        probe: how answers are questioned.
        oracle: an independent right answer, called like the student's object.
        mistakes: the bank of known wrong variants; the registry adds those of the exercise's table.
        invariants: laws that right answers keep.
        facts: where many values are right, what is asked of them: (inputs, values) -> named
            facts, which are compared in their place. They are computed where no student code
            runs.
        tolerance: largest relative and absolute difference that counts as equal in float32
            (3 thousandths of that in float64); for predictions, the relative margin.
        fingerprints: the lesson's file of what known mistakes give, if it has one.
        read: a wrong prediction -> a true sentence on how it is made up; "" if there is none.
        settings: a parameter of cases -> what it is called.
        of_parts: returns the mistakes of the functions that the right answer calls.

    """

    probe: Probe
    oracle: Any
    mistakes: tuple[Mistake, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    facts: Callable[[Inputs, Mapping[str, Plain]], dict[str, Plain]] | None = None
    tolerance: float = 1e-5
    fingerprints: Path | None = None
    read: Callable[[Plain], str] | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    of_parts: Callable[[], tuple[Mistake, ...]] = tuple

    @property
    def id(self) -> str:
        """Return the exercise's id."""
        return self.probe.exercise


def by_id(*exercises: Exercise) -> Mapping[str, Exercise]:
    """Make a module's table of exercises: id -> exercise."""
    return {exercise.id: exercise for exercise in exercises}

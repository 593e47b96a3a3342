"""An outcome as plain data, and back: cases by their position, mistakes without their code.

The client reads what it gets against its own lesson: exercises, points and cases are its own, so
that a worker's answer can neither add nor leave out any.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from grader.authoring.lesson import Lesson, LessonExercise
from grader.judging.outcome import ExerciseResult, Outcome, Status
from grader.reading.plan import cases_of
from grader.workers.protocol import WireError, pack, unpack
from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, Mistake
from utils.checks.observation import Array, ProblemKind
from utils.checks.verdict import CaseResult, Verdict

Three = tuple[str, str, str]  # of a mistake: its name, message, hint


class _Finding(msgspec.Struct):
    kind: ProblemKind
    texts: tuple[str, str, str, str]  # where, message, line, demand
    details: tuple[str, ...]
    pictures: tuple[Any, Any] | None


class _Verdict(msgspec.Struct):
    findings: list[_Finding | None]
    mistakes: tuple[Three | None, Three | None]
    symptoms: tuple[str, ...]


class _Result(msgspec.Struct):
    exercise: str
    note: str
    verdict: _Verdict | None


class _Outcome(msgspec.Struct):
    status: Status
    results: list[_Result]
    notes: tuple[str, ...]
    unusual: tuple[str, ...]
    seconds: float


def write_outcome(outcome: Outcome) -> Any:
    """Return an outcome as what JSON can hold."""
    results = [_written(result) for result in outcome.results]
    return msgspec.to_builtins(
        _Outcome(outcome.status, results, outcome.notes, outcome.unusual, outcome.seconds)
    )


def _written(result: ExerciseResult) -> _Result:
    told = None
    if (verdict := result.verdict) is not None:
        findings = [_written_finding(case.finding) for case in verdict.results]
        mistakes = _written_mistake(verdict.mistake), _written_mistake(verdict.second)
        told = _Verdict(findings, mistakes, verdict.symptoms)
    return _Result(result.exercise, result.note, told)


def _written_mistake(mistake: Mistake | None) -> Three | None:
    return None if mistake is None else (mistake.name, mistake.message, mistake.hint)


def _written_finding(finding: Finding | None) -> _Finding | None:
    if finding is None:
        return None
    texts = finding.where, finding.message, finding.line, finding.demand
    pictures = finding.pictures
    packed = None if pictures is None else (pack(pictures[0]), pack(pictures[1]))
    return _Finding(ProblemKind(finding.kind), texts, finding.details, packed)


def read_outcome(data: Any, lesson: Lesson) -> Outcome:
    """Read what `write_outcome` returned, for a lesson of the reader's own.

    Raises:
        WireError: it is something else, or about another lesson.

    """
    try:
        told = msgspec.convert(data, _Outcome)
        pairs = zip(lesson.exercises, told.results, strict=True)
        results = tuple(_result(lesson, exercise, result) for exercise, result in pairs)
    except ValueError as error:
        raise WireError(f"no outcome: {error!r}") from None
    return Outcome(lesson.name, told.status, results, told.notes, told.seconds, told.unusual)


def _result(lesson: Lesson, exercise: LessonExercise, told: _Result) -> ExerciseResult:
    if told.exercise != exercise.id:
        raise ValueError(f"{told.exercise!r} stands where {exercise.id} was expected")
    verdict = None
    if told.verdict is not None:
        verdict = _verdict(exercise, cases_of(lesson, exercise.id), told.verdict)
    return ExerciseResult(exercise.id, exercise.points, verdict, told.note)


def _verdict(exercise: LessonExercise, cases: Sequence[Case], told: _Verdict) -> Verdict:
    pairs = zip(cases, told.findings, strict=True)
    results = tuple(CaseResult(case, _finding(found)) for case, found in pairs)
    mistake, second = (three and Mistake(*three) for three in told.mistakes)
    return Verdict(exercise.id, results, mistake, second, told.symptoms, exercise.points)


def _finding(told: _Finding | None) -> Finding | None:
    if told is None:
        return None
    where, message, line, demand = told.texts
    pictures = told.pictures and (_picture(told.pictures[0]), _picture(told.pictures[1]))
    return Finding(told.kind, where, message, told.details, line, pictures, demand)


def _picture(data: object) -> Array:
    found = unpack(data)
    if not isinstance(found, np.ndarray):
        raise WireError("a picture is no array")
    return found

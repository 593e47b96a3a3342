"""An outcome as plain data, and back: cases by their position, mistakes without their code.

The client reads what it gets against its own lesson: exercises, points and cases are its own, so
that a worker's answer can neither add nor leave out any.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.authoring.lesson import Lesson, LessonExercise
from grader.grading.outcome import ExerciseResult, Outcome, Status
from grader.grading.plan import cases_of
from grader.workers.protocol import WireError, pack, unpack
from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, Mistake
from utils.checks.observation import Array, ProblemKind
from utils.checks.verdict import CaseResult, Verdict

Data = Mapping[str, Any]


def write_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as what JSON can hold."""
    return {
        "status": outcome.status,
        "results": [_write_result(result) for result in outcome.results],
        "notes": list(outcome.notes),
        "unusual": list(outcome.unusual),
        "seconds": outcome.seconds,
    }


def _write_result(result: ExerciseResult) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "exercise": result.exercise,
        "note": result.note,
        "verdict": None if verdict is None else _write_verdict(verdict),
    }


def _write_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "findings": [_write_finding(result.finding) for result in verdict.results],
        "mistakes": [_write_mistake(m) for m in (verdict.mistake, verdict.second)],
        "symptoms": list(verdict.symptoms),
    }


def _write_mistake(mistake: Mistake | None) -> list[str] | None:
    return None if mistake is None else [mistake.name, mistake.message, mistake.hint]


def _write_finding(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {
        "kind": finding.kind,
        "texts": [finding.where, finding.message, finding.line, finding.demand],
        "details": list(finding.details),
        "pictures": finding.pictures and [pack(picture) for picture in finding.pictures],
    }


def read_outcome(data: Any, lesson: Lesson) -> Outcome:
    """Read what `write_outcome` returned, for a lesson of the reader's own.

    Raises:
        WireError: it is something else, or about another lesson.

    """
    try:
        return _outcome(data, lesson)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"no outcome: {error!r}") from None


def _outcome(data: Data, lesson: Lesson) -> Outcome:
    pairs = zip(lesson.exercises, data["results"], strict=True)
    return Outcome(
        lesson.name,
        Status(data["status"]),
        tuple(_result(lesson, exercise, result) for exercise, result in pairs),
        _texts(data["notes"]),
        float(data["seconds"]),
        _texts(data["unusual"]),
    )


def _result(lesson: Lesson, exercise: LessonExercise, data: Data) -> ExerciseResult:
    if data["exercise"] != exercise.id:
        raise ValueError(f"{data['exercise']!r} stands where {exercise.id} was expected")
    told = data["verdict"]
    verdict = None if told is None else _verdict(exercise, cases_of(lesson, exercise.id), told)
    return ExerciseResult(exercise.id, exercise.points, verdict, _text(data["note"]))


def _verdict(exercise: LessonExercise, cases: Sequence[Case], data: Data) -> Verdict:
    pairs = zip(cases, data["findings"], strict=True)
    results = tuple(CaseResult(case, _finding(found)) for case, found in pairs)
    mistake, second = map(_mistake, data["mistakes"])
    symptoms = _texts(data["symptoms"])
    return Verdict(exercise.id, results, mistake, second, symptoms, exercise.points)


def _mistake(data: Sequence[Any] | None) -> Mistake | None:
    return None if data is None else Mistake(*map(_text, data))


def _finding(data: Data | None) -> Finding | None:
    if data is None:
        return None
    where, message, line, demand = map(_text, data["texts"])
    kind, details = ProblemKind(data["kind"]), _texts(data["details"])
    return Finding(kind, where, message, details, line, _pictures(data["pictures"]), demand)


def _text(data: object) -> str:
    if not isinstance(data, str):
        raise TypeError(f"{type(data).__name__} stands where a text was expected")
    return data


def _texts(data: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(_text, data))


def _pictures(data: Sequence[Any] | None) -> tuple[Array, Array] | None:
    if data is None:
        return None
    wanted, got = map(_picture, data)
    return wanted, got


def _picture(data: object) -> Array:
    found = unpack(data)
    if not isinstance(found, np.ndarray):
        raise TypeError("a picture is no array")
    return found

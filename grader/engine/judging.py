"""From messages to an outcome. Runs where no student code ever ran."""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.build.lesson import Exercise as LessonExercise
from grader.build.lesson import Lesson
from grader.engine.outcome import ExerciseResult, Outcome, Status
from grader.engine.plan import cases_of
from grader.engine.wire import Message, WireError, decode
from grader.isolation import Ended
from utils.checks.compare import Finding
from utils.checks.judge import judge
from utils.checks.observation import Observation, Problem
from utils.checks.registry import exercises
from utils.checks.verdict import CaseResult

Seen = Mapping[tuple[str, int], Observation]

ENDS: Mapping[str, tuple[Status, str]] = {
    "finished": ("graded", ""),
    "timed out": ("timed out", "Grading stopped at the time limit: something runs on and on."),
    "crashed": ("crashed", "The notebook ended its own process before grading was done."),
    "too much output": ("crashed", "The notebook sent more data than grading takes."),
    "too many files": ("crashed", "The notebook wrote more files than grading allows."),
    "garbled": ("crashed", "The notebook disturbed its own grading."),
    "not isolated": ("grader error", "The machine could not isolate the notebook."),
}


def judge_submission(
    lesson: Lesson, ended: Ended, refused: Mapping[str, str], notes: Sequence[str]
) -> Outcome:
    """Judge what an isolated process sent.

    Args:
        lesson: the trusted lesson.
        ended: how the process ended, and its messages.
        refused: exercise -> why its code is refused unseen (a forbidden shortcut).
        notes: what the student should know about the notebook itself.
    """
    status, sentence = ENDS[ended.status]
    seen = _collect(lesson, ended.messages)
    results = tuple(
        _result(lesson, exercise, seen, refused.get(exercise.id), sentence)
        for exercise in lesson.exercises
    )
    told = (*notes, *([sentence] if sentence else []))
    return Outcome(lesson.name, status, results, told, ended.wall_seconds, ended.max_rss_bytes)


def _collect(lesson: Lesson, messages: Sequence[bytes]) -> Seen:
    """Keep the first answer to each question that was asked; all else is ignored."""
    asked = {
        (exercise.id, number)
        for exercise in lesson.exercises
        for number in range(len(cases_of(lesson, exercise.id)))
    }
    seen: dict[tuple[str, int], Observation] = {}
    for raw in messages:
        message = _decoded(raw)
        if message is not None and (message.exercise, message.case) in asked:
            seen.setdefault((message.exercise, message.case), message.observation)
    return seen


def _decoded(raw: bytes) -> Message | None:
    try:
        return decode(raw)
    except WireError:
        return None


def _result(
    lesson: Lesson, exercise: LessonExercise, seen: Seen, refusal: str | None, sentence: str
) -> ExerciseResult:
    cases = cases_of(lesson, exercise.id)
    if refusal:
        answers: list[Observation | None] = [_refused(refusal)] * len(cases)
    else:
        answers = [seen.get((exercise.id, number)) for number in range(len(cases))]
    judged = judge(exercises()[exercise.id], cases, answers, exercise.points)
    verdict = replace(judged, results=tuple(map(_discreet, judged.results)))
    note = sentence if None in answers else ""
    return ExerciseResult(exercise.id, exercise.points, verdict, note)


def _discreet(result: CaseResult) -> CaseResult:
    """Hidden cases without an error's message: code can write there what it was called with."""
    finding = result.finding
    if finding is None or not result.case.hidden or finding.kind not in ("exception", "backward"):
        return result
    return replace(result, finding=replace(finding, says=_without_message(finding)))


def _without_message(finding: Finding) -> str:
    if finding.kind == "backward":
        return "The results are right, but backward() fails."
    name = finding.says.partition(":")[0]
    known = isinstance(getattr(builtins, name, None), type)  # a name of one's own is a message too
    return f"{name if known else 'An exception'}. In hidden cases its message is not shown."


def _refused(why: str) -> Observation:
    return Observation(problem=Problem("forbidden", why))

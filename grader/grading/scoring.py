"""From messages to an outcome. Runs where no student code ever ran."""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.authoring.lesson import Lesson, LessonExercise
from grader.grading.outcome import ENDINGS, ExerciseResult, Outcome
from grader.grading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.protocol import Message, WireError, decode
from utils.checks.framework.compare import Finding
from utils.checks.framework.judge import judge
from utils.checks.framework.observation import Observation, Problem, ProblemKind
from utils.checks.framework.verdict import CaseResult, Verdict
from utils.checks.registry import exercises

# A hidden case with one of these is shown without its message: code can put its inputs there.
MESSAGES_OF_OTHERS = (ProblemKind.EXCEPTION, ProblemKind.BACKWARD)
Seen = Mapping[tuple[str, int], Observation]


def judge_submission(
    lesson: Lesson, ended: Ended, refused: Mapping[str, str], notes: Sequence[str]
) -> Outcome:
    """Judge what an isolated process sent.

    Args:
        lesson: the trusted lesson.
        ended: how the process ended, and its messages.
        refused: exercise -> why its code is refused, whatever was seen (a forbidden shortcut).
        notes: what the student should know about the notebook itself.

    """
    status, sentence = ENDINGS[ended.status]
    seen = _collect(lesson, ended.messages)
    results = tuple(
        _result(lesson, exercise, seen, refused.get(exercise.id), sentence)
        for exercise in lesson.exercises
    )
    told = (*notes, *([sentence] if sentence else []))
    return Outcome(lesson.name, status, results, told, ended.wall_seconds, ended.max_rss_bytes)


def _collect(lesson: Lesson, messages: Sequence[bytes]) -> Seen:
    """Keep the first answer to each question that was asked; ignore all else."""
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
    verdict = _without_hidden_words(judged)
    note = sentence if None in answers else ""
    return ExerciseResult(exercise.id, exercise.points, verdict, note)


def _without_hidden_words(verdict: Verdict) -> Verdict:
    """Return a verdict without what a student's code could say of hidden cases."""
    shown, results = verdict.first_failure, tuple(map(_discreet, verdict.results))
    quotes = shown is not None and _discreet(shown) is not shown  # symptoms quote its message
    return replace(verdict, results=results, symptoms=() if quotes else verdict.symptoms)


def _discreet(result: CaseResult) -> CaseResult:
    """Remove an error's message from a hidden case: code can put its inputs there."""
    finding = result.finding
    if finding is None or not result.case.hidden or finding.kind not in MESSAGES_OF_OTHERS:
        return result
    return replace(result, finding=replace(finding, message=_without_message(finding)))


def _without_message(finding: Finding) -> str:
    if finding.kind == ProblemKind.BACKWARD:
        return "The results are right, but backward() fails."
    name = finding.message.partition(":")[0]
    if name == "TookTooLong":
        return "It ran for too long and was stopped."
    known = isinstance(getattr(builtins, name, None), type)  # a made-up name is a message too
    return f"{name if known else 'An exception'}. In hidden cases its message is not shown."


def _refused(why: str) -> Observation:
    return Observation(problem=Problem(ProblemKind.FORBIDDEN, why))

"""From messages to an outcome. Runs where no student code ever ran."""

import builtins
import contextlib
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from grader.authoring.lesson import Lesson, LessonExercise
from grader.judging.outcome import ENDINGS, ExerciseResult, Outcome
from grader.notebook_limits import parts_of
from grader.reading.plan import cases_of
from grader.sandbox import Ended
from grader.workers.progress import EVENT
from grader.workers.protocol import MOST_PARTS_IN_ALL, WireError, decode
from utils.checks.case_results import judge_case, points_alone
from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, ExerciseKind
from utils.checks.explain.seen.silent_tests import reasons_in
from utils.checks.judge import judge
from utils.checks.observation import Observation, ProblemKind
from utils.checks.observe.expected import expected_of
from utils.checks.registry import exercises, with_mistakes
from utils.checks.verdict import CaseResult, Verdict

# Of a hidden case nothing is shown that a student's code can put its inputs into.
NOT_SHOWN: Final = "What comes back is not what is asked for. In hidden cases it is not shown."
SENTENCES: Final = {
    ProblemKind.STUB: "This exercise is not written yet.",
    ProblemKind.NOTHING: "Nothing comes back.",
    ProblemKind.CHANCE: "Two calls with the same input differ.",
    ProblemKind.CHECK: "The check itself stopped at the result: the grader should look at it.",
    ProblemKind.KEPT: "Two calls with the same input differ.",
    ProblemKind.BACKWARD: "The results are right, but backward() fails.",
    ProblemKind.FORBIDDEN: "It uses what this exercise asks you to build.",
}
OURS: Final = (ProblemKind.MISSING, ProblemKind.CHANGED)
_SHAPE: Final = r"\([\d, ]{0,40}\)( = \([\w, ]{0,40}\))?"
FORM_ALONE: Final = re.compile(
    rf"[a-z_ ]{{1,40}}: (expected shape {_SHAPE}, got {_SHAPE}|expected dtype \w{{1,20}}, got "
    r"\w{1,20}|\d+ of \d+ entries differ( \(\d+ are NaN\))?)\."
)
Answers = Mapping[tuple[str, int], Observation]


def judge_submission(
    lesson: Lesson,
    ended: Ended,
    named: Mapping[str, str],
    notes: Sequence[str],
    cells: Sequence[str] = (),
) -> Outcome:
    """Judge what an isolated process sent.

    Args:
        lesson: the trusted lesson.
        ended: how the process ended, and its messages.
        named: exercise -> the shortcut that its code plainly uses, or the stub that stands behind
            it, as a sentence. What was seen decides; the sentence is told beside it if that was
            not right.
        notes: what the student should know about the notebook itself.
        cells: the code of the submission's cells; no other line is shown of a hidden case.

    """
    lines = {line.strip() for cell in cells for line in cell.splitlines()}
    status, sentence = ENDINGS[ended.status]
    seen = _collect(lesson, ended.messages)
    results = tuple(
        _result(
            lesson,
            exercise,
            seen,
            (sentence, named.get(exercise.id, "")),
            (lines, _reasons(exercise.id, cells)),
        )
        for exercise in lesson.exercises
    )
    told = (*notes, *([sentence] if sentence else []))
    return Outcome(lesson.name, status, results, told, ended.wall_seconds)


def _reasons(exercise: str, cells: Sequence[str]) -> Collection[str]:
    """Return why a student's test never fails, of an exercise that asks for one."""
    is_test = exercises()[exercise].probe.kind == ExerciseKind.TEST_THE_TEST
    return reasons_in(cells, exercise) if is_test else ()


def expect(lesson: Lesson) -> None:
    """Compute what right answers give, once for all submissions of a lesson."""
    for exercise in lesson.exercises:
        known = exercises()[exercise.id]
        for case in cases_of(lesson, exercise.id):
            judge_case(known, case, expected_of(known, case))


def _collect(lesson: Lesson, messages: Sequence[bytes]) -> Answers:
    """Keep the first answer to each question that was asked; ignore all else.

    What comes once a submission has sent more values than it may is not read.
    """
    asked = {
        (exercise.id, number)
        for exercise in lesson.exercises
        for number in range(len(cases_of(lesson, exercise.id)))
    }
    seen: dict[tuple[str, int], Observation] = {}
    in_all = accumulate(map(parts_of, messages))
    for raw, parts in zip(messages, in_all, strict=True):
        if parts > MOST_PARTS_IN_ALL:
            break
        if raw.startswith(EVENT):
            continue
        with contextlib.suppress(WireError):
            message = decode(raw)
            if (message.exercise, message.case) in asked:
                seen.setdefault((message.exercise, message.case), message.observation)
    return seen


def _result(
    lesson: Lesson,
    exercise: LessonExercise,
    seen: Answers,
    told: tuple[str, str],
    known: tuple[Collection[str], Collection[str]],
) -> ExerciseResult:
    """Judge one exercise; `known` are the submission's lines, and why its test never fails."""
    lines, reasons = known
    cases = cases_of(lesson, exercise.id)
    answers = [seen.get((exercise.id, number)) for number in range(len(cases))]
    verdict = _without_hidden_words(_judged(exercise, cases, answers, reasons), lines)
    ended, known_cause = told
    note = known_cause if verdict.score < exercise.points else ""
    note = note or (ended if None in answers else "")
    return ExerciseResult(exercise.id, exercise.points, verdict, note)


def _judged(
    exercise: LessonExercise,
    cases: Sequence[Case],
    answers: Sequence[Observation | None],
    reasons: Collection[str],
) -> Verdict:
    """Judge an exercise; points do not depend on whether a cause can be sought in odd answers."""
    known = with_mistakes(exercises()[exercise.id], exercise.mistakes)
    asked = known, cases, answers, exercise.points
    try:
        return judge(*asked, reasons=reasons)
    except Exception as error:  # no words of it: they may be a student's
        verdict = points_alone(*asked)
        warnings.warn(f"{exercise.id}: no cause sought, {type(error).__name__}", stacklevel=2)
        return verdict


def _without_hidden_words(verdict: Verdict, lines: Collection[str]) -> Verdict:
    """Return a verdict without what a student's code could say of hidden cases."""
    shown = verdict.first_failure
    hides = shown is not None and shown.case.hidden  # symptoms speak of what is shown
    results = tuple(_discreet(result, lines) for result in verdict.results)
    return replace(verdict, results=results, symptoms=() if hides else verdict.symptoms)


def _discreet(result: CaseResult, lines: Collection[str]) -> CaseResult:
    """Leave of a hidden case what no code can put its inputs into: shapes, types, counts."""
    finding = result.finding
    if finding is None or not result.case.hidden:
        return result
    line = finding.line if finding.line.strip() in lines else ""
    told = Finding(finding.kind, finding.where, _without_values(finding), line=line)
    return replace(result, finding=replace(told, demand=finding.demand))


def _without_values(finding: Finding) -> str:
    if finding.kind == ProblemKind.EXCEPTION:
        return _without_message(finding.message.partition(":")[0])
    if finding.kind in OURS or FORM_ALONE.fullmatch(finding.message):
        return finding.message
    return SENTENCES.get(ProblemKind(finding.kind), NOT_SHOWN)


def _without_message(name: str) -> str:
    if name == "TookTooLong":
        return "It ran for too long and was stopped."
    known = isinstance(getattr(builtins, name, None), type)  # a made-up name is a message too
    return f"{name if known else 'An exception'}. In hidden cases its message is not shown."

"""Judge an answer by what was observed of it, and explain what is wrong."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from utils.checks.case_results import points_alone, with_all_facts
from utils.checks.compare.amount import is_far_more
from utils.checks.compare.closeness import has_no_number
from utils.checks.exercise import Case, Exercise
from utils.checks.explain import explain
from utils.checks.explain.asked.own_object import OwnObject
from utils.checks.explain.known.agreeing import Judged
from utils.checks.explain.situation import Situation
from utils.checks.observation import Observation, ProblemKind
from utils.checks.observe.expected import expected_of
from utils.checks.verdict import Verdict


def judge(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation | None],
    points: float | None = None,
    *,
    reasons: Collection[str] = (),
    own: OwnObject | None = None,
) -> Verdict:
    """Judge an answer by its observations.

    Args:
        exercise: probe, oracle and mistakes.
        cases: what was asked, in order.
        observations: what came back for each case; None if nothing did.
        points: the exercise's points, if it is graded.
        reasons: why a student's test never fails, as its code shows.
        own: the student's own object; None in grading, where it cannot be asked again.

    """
    verdict = points_alone(exercise, cases, observations, points)
    first = verdict.first_failure
    if first is None or verdict.is_stub:
        return verdict
    seen = with_all_facts(exercise, cases, observations)
    judged = [Judged(*pair) for pair in zip(verdict.results, seen, strict=True)]
    shown = judged[verdict.results.index(first)]
    judged = [replace(one, seen=None) if _is_too_much(exercise, one) else one for one in judged]
    telling = next((one for one in (shown, *judged) if _tells(exercise, one)), None)
    found = explain(Situation(exercise, judged, shown, telling, reasons, own))
    return replace(verdict, mistake=found.mistake, second=found.second, symptoms=found.symptoms)


def _is_too_much(exercise: Exercise, judged: Judged) -> bool:
    """Return whether so much came back in a case that no cause is sought in it."""
    if judged.seen is None:
        return False
    return is_far_more(expected_of(exercise, judged.result.case), judged.seen)


def _tells(exercise: Exercise, judged: Judged) -> bool:
    """Return whether a case's result, which is wrong, has a number to tell what went wrong."""
    finding, seen = judged.result.finding, judged.seen
    if finding is None or judged.holds:
        return False
    if finding.kind != ProblemKind.VALUES or seen is None:
        return True
    name = finding.where.partition("[")[0]
    wanted = expected_of(exercise, judged.result.case).values.get(name)
    return not has_no_number(wanted, seen.values.get(name))

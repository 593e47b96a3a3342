"""Say what usually causes the error in which an answer ended."""

from utils.checks.exercise import ExerciseKind
from utils.checks.explain.seen.errors_explained import of_a_test, usual_cause
from utils.checks.explain.situation import Explanation, Situation


def explain(situation: Situation) -> Explanation | None:
    """Say what usually causes an error: it leaves no result to look at."""
    finding, seen = situation.shown.result.finding, situation.shown.seen
    problem = seen.problem if seen is not None else None
    if finding is None or problem is None or finding.kind != problem.kind:
        return None
    is_test = situation.exercise.probe.kind == ExerciseKind.TEST_THE_TEST
    says = (of_a_test if is_test else usual_cause)(problem)
    return Explanation(symptoms=(says,) if says else ())

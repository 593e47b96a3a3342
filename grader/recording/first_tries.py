"""How much of each exercise a student had right at first: kept from one graded copy to the next.

A first try is the first graded hand-in in which the exercise is written. Work that was not graded
in between, since a newer hand-in came before, leaves no trace.
"""

from collections.abc import Mapping

from grader.course.graded_copies import FirstTry
from grader.judging.outcome import Outcome, Status


def first_tries(
    before: Mapping[str, FirstTry], outcome: Outcome, submission: str
) -> dict[str, FirstTry]:
    """Return exercise -> first try, once a hand-in is graded.

    Args:
        before: what the earlier graded copy says, if there is one.
        outcome: of the hand-in.
        submission: its fingerprint. What is judged anew, because its lesson changed, replaces what
            the same hand-in had earned.

    """
    found = dict(before)
    for result in outcome.results if outcome.status != Status.GRADER_ERROR else ():
        known = before.get(result.exercise)
        if result.verdict is None or result.verdict.is_stub:
            continue
        if known is None or known.submission == submission:
            found[result.exercise] = FirstTry(submission, round(result.verdict.earned, 4))
    return found

"""What a check found out about an answer, case by case."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from utils.checks.compare.compare import Finding
from utils.checks.exercise import Case, Mistake
from utils.checks.observation import ProblemKind
from utils.checks.points import left_of_the_idea


@dataclass(frozen=True)
class CaseResult:
    """The result of one case: passed, or what was found instead."""

    case: Case
    finding: Finding | None

    @property
    def passed(self) -> bool:
        """Return whether nothing was found."""
        return self.finding is None

    @property
    def idea_holds(self) -> bool:
        """Return whether nothing was found against the exercise's idea."""
        return self.finding is None or bool(self.finding.demand)


@dataclass(frozen=True)
class Note:
    """What a student reads after a verdict: a sentence, and lines of code or of output."""

    says: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    Attributes:
        exercise: the exercise's id.
        results: in the order of the cases, easiest first.
        mistake: the known mistake that explains what was observed, if one does.
        second: a second known mistake, if only both together explain it.
        symptoms: true sentences that narrow a fault down, if no known mistake explains it.
        points: the exercise's points if it is graded, else None.
        notes: what the answer printed and was warned of.
        doubt: why this does not count, whatever was found, in a sentence; empty if it does.

    """

    exercise: str
    results: tuple[CaseResult, ...]
    mistake: Mistake | None = None
    second: Mistake | None = None
    symptoms: tuple[str, ...] = ()
    points: float | None = None
    notes: tuple[Note, ...] = ()
    doubt: str = ""

    @cached_property
    def core(self) -> tuple[CaseResult, ...]:
        """Return the results of the cases that test the idea."""
        return tuple(r for r in self.results if r.case.is_core)

    @cached_property
    def demands(self) -> dict[str, bool]:
        """Return what is asked beside the idea, and whether the answer does it.

        An input changed in place is one demand missed, in whichever cases it shows.

        """
        met: dict[str, bool] = {}
        for result in self.results:
            finding, own = result.finding, result.case.demand
            missed = finding.demand if finding is not None else ""
            changed = finding is not None and finding.kind == ProblemKind.CHANGED
            if missed and (result.case.is_core or changed):
                met[missed] = False
            if own:
                met[own] = met.get(own, True) and (result.passed or changed)
        return met

    @property
    def idea_is_right(self) -> bool:
        """Return whether every case that tests the idea passed, number types and the like aside."""
        return bool(self.core) and all(r.idea_holds for r in self.core)

    @cached_property
    def earned(self) -> float:
        """Return the share of the points, 0 to 1.

        The idea earns the share of its cases that pass, and nothing if a required one fails. What
        is asked beside the idea decides a fifth of that.

        """
        met = self.demands.values()
        return _share(self.core) * left_of_the_idea(sum(met), len(met))

    @property
    def passed(self) -> bool:
        """Return whether every case passed, and counts."""
        return not self.doubt and bool(self.results) and all(r.passed for r in self.results)

    @property
    def first_failure(self) -> CaseResult | None:
        """Return the result to show: the easiest failing case, the idea's before all others."""
        failed = [r for r in self.results if not r.passed]
        return min(failed, key=lambda r: r.idea_holds or not r.case.is_core, default=None)

    @property
    def is_stub(self) -> bool:
        """Return whether the exercise has not been started."""
        failure = self.first_failure
        return (
            failure is not None
            and failure.finding is not None
            and failure.finding.kind == ProblemKind.STUB
        )

    @property
    def score(self) -> float:
        """Return the points earned, rounded to hundredths; 0 if the check is not graded."""
        return round(self.earned * (self.points or 0.0), 2)

    def as_json(self) -> dict[str, Any]:
        """Return the verdict for machines: reports read it from a graded notebook."""
        return {
            "exercise": self.exercise,
            "earned": round(self.earned, 6),
            "points": self.points,
            "stub": self.is_stub,
            "idea": self.idea_is_right,
            "demands": self.demands,
            "cases": [
                {"name": r.case.name, "passed": r.passed, "hidden": r.case.hidden}
                for r in self.results
            ],
            "mistake": _as_json(self.mistake),
            "second": _as_json(self.second),
            "symptoms": list(self.symptoms),
            **({"doubt": self.doubt} if self.doubt else {}),
        }


def _share(results: Sequence[CaseResult]) -> float:
    """Return the weight of the cases that pass as a share; 0 if a required one fails.

    Hidden cases together weigh at least as much as the visible ones, so that knowing what is shown
    by heart earns half at most.
    """
    failed = [r.case for r in results if not r.idea_holds]
    if not results or any(case.required for case in failed):
        return 0.0
    cases = [r.case for r in results]
    shown = sum(case.weight for case in cases if not case.hidden)
    hidden = sum(case.weight for case in cases if case.hidden)
    factor = {False: 1.0, True: max(1.0, shown / hidden) if hidden else 1.0}
    lost = sum(case.weight * factor[case.hidden] for case in failed)
    return 1.0 - lost / (shown + hidden * factor[True])


def _as_json(mistake: Mistake | None) -> dict[str, str] | None:
    if mistake is None:
        return None
    return {"name": mistake.name, "message": mistake.message, "hint": mistake.hint}

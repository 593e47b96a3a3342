"""What a check found out about an answer, case by case."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from utils.checks.compare import Finding
from utils.checks.exercise import Case, Mistake

MIME = "application/vnd.course.verdict+json"


@dataclass(frozen=True)
class CaseResult:
    """One case: passed, or what was found instead."""

    case: Case
    finding: Finding | None

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return self.finding is None


@dataclass(frozen=True, repr=False)
class Verdict:
    """The judgement of one answer.

    Attributes:
        exercise: the exercise's id.
        results: in the order of the cases, easiest first.
        mistake: the known mistake that explains what was seen, if one does.
        points: the exercise's points where it is graded, else None.
        halved: a failing visible case costs half of what the other cases earned: the check has
            told its author. (Where each case is worth its own points, it costs nothing more.)
    """

    exercise: str
    results: tuple[CaseResult, ...]
    mistake: Mistake | None = None
    points: float | None = None
    halved: bool = True

    @cached_property
    def earned(self) -> float:
        """Share of the points, 0 to 1: passed weights, or 0 where a required case fails."""
        failed = [r.case for r in self.results if not r.passed]
        if not self.results or any(case.required for case in failed):
            return 0.0
        total = sum(r.case.weight for r in self.results)
        share = 1.0 - sum(case.weight for case in failed) / total
        return share / 2 if self.halved and any(not case.hidden for case in failed) else share

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return bool(self.results) and all(r.passed for r in self.results)

    @property
    def first_failure(self) -> CaseResult | None:
        """The easiest case that did not pass."""
        return next((r for r in self.results if not r.passed), None)

    @property
    def is_stub(self) -> bool:
        """Whether the exercise was not begun."""
        failure = self.first_failure
        return (
            failure is not None and failure.finding is not None and failure.finding.kind == "stub"
        )

    @property
    def score(self) -> float:
        """Points earned, rounded to hundredths; 0 where the check is not graded."""
        return round(self.earned * (self.points or 0.0), 2)

    def as_json(self) -> dict[str, Any]:
        """The verdict for machines: reports read it from a graded notebook."""
        mistake = self.mistake
        return {
            "exercise": self.exercise,
            "earned": round(self.earned, 6),
            "points": self.points,
            "stub": self.is_stub,
            "cases": [
                {"name": r.case.name, "passed": r.passed, "hidden": r.case.hidden}
                for r in self.results
            ],
            "mistake": mistake
            and {"name": mistake.name, "says": mistake.says, "hint": mistake.hint},
        }

    def __repr__(self) -> str:
        from utils.checks.render import as_text  # noqa: PLC0415 (render needs Verdict)

        return as_text(self)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from utils.checks.render import as_html  # noqa: PLC0415

        data = json.dumps(self.as_json())  # a string: nbval compares outputs as text
        return {"text/plain": repr(self), "text/html": as_html(self), MIME: data}

"""A verdict as a graded copy holds it, read without trust.

nbgrader's own engine writes copies from the kernel that ran the student's code, so any text may
stand where a verdict is expected.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from utils.checks.framework.points import left_of_the_idea

MOST_JSON: Final = 200_000  # characters
MOST_TEXT: Final = 600  # characters of one sentence
MOST_CASES: Final = 60
CAUSE_LABELS: Final = ("What this usually means:", "And:", "Where to look:", "What was seen:")
MARKS: Final = ("  ✓ ", "  ✗ ", "  ◐ ")


@dataclass(frozen=True)
class Cause:
    """A known mistake that was named."""

    name: str
    message: str
    hint: str


@dataclass(frozen=True)
class ShownVerdict:
    """What pages and reports show of a verdict.

    Attributes:
        exercise: its id.
        earned: the share of the points, 0 to 1.
        is_stub: whether the exercise was left as it was.
        idea: whether every case of the exercise's idea passed.
        demands: what was asked beside the idea -> whether the answer does it.
        cases: (name, whether it passed), easiest first.
        causes: the known mistakes that explain what was seen: none, one or two.
        symptoms: true sentences, where no known mistake explains it.

    """

    exercise: str
    earned: float
    is_stub: bool
    idea: bool
    demands: Mapping[str, bool]
    cases: tuple[tuple[str, bool], ...]
    causes: tuple[Cause, ...]
    symptoms: tuple[str, ...]

    @property
    def missed(self) -> list[str]:
        """What was asked beside the idea and is missed."""
        return [demand for demand, met in self.demands.items() if not met]

    @property
    def idea_earned(self) -> float:
        """The share of the points that the idea earned, before what is missed took its part."""
        met = len(self.demands) - len(self.missed)
        return min(1.0, self.earned / left_of_the_idea(met, len(self.demands)))


def read_verdict(text: object) -> ShownVerdict | None:
    """Read a graded verdict's JSON; None if it is something else, or not a graded one."""
    if not isinstance(text, str) or len(text) > MOST_JSON:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("points"), int | float):
        return None
    return _verdict(data)


def _verdict(data: dict[str, Any]) -> ShownVerdict:
    named = [_cause(data.get(key)) for key in ("mistake", "second")]
    demands, cases = data.get("demands"), data.get("cases")
    return ShownVerdict(
        exercise=_text(data.get("exercise")),
        earned=_share(data.get("earned")),
        is_stub=data.get("stub") is True,
        idea=data.get("idea") is True,
        demands={_text(key): value is True for key, value in _items(demands)},
        cases=tuple(_case(case) for case in _listed(cases) if isinstance(case, dict)),
        causes=tuple(cause for cause in named if cause is not None),
        symptoms=tuple(_text(line) for line in _listed(data.get("symptoms"))),
    )


def _items(value: object) -> list[tuple[object, object]]:
    return list(value.items())[:MOST_CASES] if isinstance(value, dict) else []


def _listed(value: object) -> list[object]:
    return value[:MOST_CASES] if isinstance(value, list) else []


def _share(value: object) -> float:
    """Return a number between 0 and 1; what is no number counts as 0."""
    is_number = isinstance(value, int | float) and 0 <= value <= 1
    return float(value) if is_number else 0.0  # type: ignore[arg-type]


def _case(case: dict[str, Any]) -> tuple[str, bool]:
    return _text(case.get("name")), case.get("passed") is True


def _cause(value: object) -> Cause | None:
    if not isinstance(value, dict):
        return None
    return Cause(*(_text(value.get(key)) for key in ("name", "message", "hint")))


def _text(value: object) -> str:
    return value[:MOST_TEXT] if isinstance(value, str) else ""


def what_was_seen(text: str) -> str:
    """Return the middle of a verdict's text: the case shown, what was expected and the result.

    Its first line, its list of cases and its causes are left out: pages show them from the data.
    They stand before the middle or behind it, as the course wrote them when it graded the copy.
    """
    lines, beside = text.split("\n")[1:], (*MARKS, *CAUSE_LABELS)
    while lines and lines[0].startswith(beside):
        lines.pop(0)
    ends = [i for i, line in enumerate(lines) if line.startswith(beside)]
    return "\n".join(lines[: ends[0]] if ends else lines)

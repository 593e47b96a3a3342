"""Changes of scores after submissions were judged anew because a lesson had changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader.course.report import FOLDER
from grader.course.safe_text import line

FILE: Final = "regraded.txt"
MOST_NAMED: Final = 5
LEAST: Final = 1e-6  # points


@dataclass(frozen=True)
class Change:
    """One submission's automatic scores by exercise, before and after.

    Attributes:
        why: the exercises that are judged otherwise now.

    """

    student: str
    lesson: str
    why: tuple[str, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]

    @property
    def gain(self) -> float:
        """Points gained in the lesson; below zero if some were lost."""
        return sum(self.after.values()) - sum(self.before.values())

    @property
    def line(self) -> str:
        """What changed, exercise by exercise."""
        names = [n for n in {**self.before, **self.after} if self._differs(n)]
        told = ", ".join(f"{n} {_of(self.before, n)} -> {_of(self.after, n)}" for n in names)
        return f"{line(self.student)}, {self.lesson}: {self.gain:+g}  {told or 'no score changed'}"

    def _differs(self, name: str) -> bool:
        return abs(self.before.get(name, 0.0) - self.after.get(name, 0.0)) > LEAST


def _of(scores: Mapping[str, float], name: str) -> str:
    return f"{scores[name]:g}" if name in scores else "none"


def told(changes: Sequence[Change]) -> list[str]:
    """Return a few lines for each lesson: why, how many gained and lost, and the largest."""
    return [
        line
        for name in dict.fromkeys(c.lesson for c in changes)
        for line in _of_lesson(name, [change for change in changes if change.lesson == name])
    ]


def _of_lesson(lesson: str, changes: Sequence[Change]) -> Iterator[str]:
    why = ", ".join(dict.fromkeys(name for change in changes for name in change.why))
    up = sorted((c for c in changes if c.gain > LEAST), key=lambda c: -c.gain)
    down = sorted((c for c in changes if c.gain < -LEAST), key=lambda c: c.gain)
    same = len(changes) - len(up) - len(down)
    yield f"{lesson}: judged anew, because this changed: {_cut(why)}"
    yield f"  {len(up)} gained, {len(down)} lost, {same} as before"
    for found in (up, down):
        if found:
            named = ", ".join(f"{line(c.student)} {c.gain:+.3g}" for c in found[:MOST_NAMED])
            yield f"  {named}{', ...' if len(found) > MOST_NAMED else ''}"


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def note(folder: Path, changes: Iterable[Change]) -> None:
    """Append the changes to report/regraded.txt, one a line: they happen once."""
    lines = [change.line for change in changes]
    if lines:
        path = folder / FOLDER / FILE
        path.parent.mkdir(mode=0o700, exist_ok=True)
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n".join([f"Judged anew on {when}", *lines, "", ""]))

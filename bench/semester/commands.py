"""A run of a semester: its folder, what was counted and timed, and what must hold of scores."""

import contextlib
import io
import math
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.semester.people import HandIn, Student, hand_ins, kept_share
from grader.cli import main as grader
from grader.course.book import Record
from grader.course.course import GradingCourse

LINES: Final = 40  # of what `grade` prints, however large the class


@dataclass
class Semester:
    """A course folder, its class, and what was counted and timed on the way.

    Attributes:
        root: a copy of the course in which the commands run.
        texts: its lessons' texts, in order.
        by_hand: (student, week) -> points given by hand for the first exercise.
        excused: (student, week) whose extension covers what they handed in.

    """

    root: Path
    students: list[Student]
    texts: list[Path]
    by_hand: dict[tuple[str, int], float] = field(default_factory=dict)
    excused: set[tuple[str, int]] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def course(self) -> GradingCourse:
        """Return the course as it is now; its lessons are read anew."""
        return GradingCourse(self.root, self.root)

    def verb(self, *words: str, code: int = 0) -> str:
        """Run one of the grader's commands as an instructor does; return what it prints."""
        out, start = io.StringIO(), time.perf_counter()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
            found = grader(words)
        self.seconds[words[0]] += time.perf_counter() - start
        self.counts[f"runs of {words[0]}"] += 1
        told = f"{' '.join(words)}: exit code {found}\n{out.getvalue()}{err.getvalue()[-2000:]}"
        self.hold(found == code, told)
        return out.getvalue()

    def hold(self, holds: object, otherwise: str) -> None:
        """Count a check; stop with a sentence if it fails."""
        self.counts["assertions"] += 1
        if not holds:
            raise AssertionError(otherwise)

    def sent(self, week: int) -> dict[str, HandIn]:
        """Return student -> the hand-in that counts."""
        found = {s.id: hand_ins(s, week) for s in self.students}
        return {student: listed[-1] for student, listed in found.items() if listed}

    def grade(self, *words: str) -> str:
        """Grade, and check that a large class does not flood the terminal."""
        told = self.verb("grade", *words)
        match = re.search(r"Graded (\d+) submissions?", told)
        self.counts["submissions graded"] += int(match[1]) if match else 0
        self.hold(told.count("\n") <= LINES, f"grade printed {told.count(chr(10))} lines")
        return told


def look(semester: Semester, week: int, sent: dict[str, HandIn]) -> None:
    """Hold a lesson's scores against what was handed in: nobody lost, late points exact."""
    course = semester.course
    (lesson,) = [x for x in course.lessons if x.name == semester.texts[week].stem]
    found = {row.student: row for row in course.book().of(lesson.name)}
    semester.hold(found.keys() == sent.keys(), f"{lesson.name}: {found.keys() ^ sent.keys()}")
    alike: dict[str, set[tuple[float, ...]]] = defaultdict(set)
    for student, row in found.items():
        _look_at(semester, week, sent[student], row)
        if (student, week) not in semester.by_hand:
            alike[sent[student].kind].add(tuple(row.scores[e.id] for e in lesson.exercises))
    for kind, several in alike.items():
        semester.hold(len(several) == 1, f"{lesson.name}: {kind}'s answers got {several}")
    if "ada" in alike:
        right = tuple(e.points for e in lesson.exercises)
        semester.hold(alike["ada"] == {right}, f"{lesson.name}: right answers got {alike['ada']}")


def _look_at(semester: Semester, week: int, hand_in: HandIn, row: Record) -> None:
    """Check one student's points, late days and points given by hand."""
    key = (row.student, week)
    late = 0.0 if key in semester.excused else hand_in.counted_late
    told = f"{row} for {hand_in}"
    semester.hold(row.late_by.total_seconds() == late, told)
    wanted = sum(row.scores.values()) * kept_share(late)
    semester.hold(math.isclose(row.total, wanted, abs_tol=1e-9), f"{wanted} wanted: {told}")
    if key in semester.by_hand:
        first = next(iter(exercises_of(semester, week)))
        semester.hold(row.scores[first] == semester.by_hand[key], f"by hand: {told}")


def exercises_of(semester: Semester, week: int) -> list[str]:
    """Return the ids of a lesson's exercises, as it is now."""
    (lesson,) = [x for x in semester.course.lessons if x.name == semester.texts[week].stem]
    return [exercise.id for exercise in lesson.exercises]

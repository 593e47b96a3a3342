"""Make and keep the fingerprints of machine-made mistakes, a file for each lesson."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.authoring.lesson import Lesson, LessonExercise
from grader.mutation.mutants import Mutant, mutants, mutants_of_two
from grader.mutation.sources import Source, sources
from grader.mutation.trial import answer_of, is_caught, prints
from grader.mutation.words import BETWEEN
from utils.checks.framework.exercise import Exercise, ExerciseKind, hidden_case
from utils.checks.framework.expected import expected_of, observed
from utils.checks.framework.fingerprints import (
    Fingerprint,
    Fingerprints,
    Print,
    combined,
    print_of,
    same_print,
)
from utils.checks.registry import exercises

_VAGUE = (BETWEEN, "a step")


MOST_AT_ONCE = 36  # changes of the solution that are also tried two at once


@dataclass
class Tally:
    """What became of an exercise's mutants.

    Attributes:
        made: how many there are, those that fail to define anything left out.
        passing: those that no case catches.
        found: distinct wrong ones that give results, with their prints.

    """

    made: int = 0
    passing: list[tuple[Source, Mutant]] = field(default_factory=list)
    found: list[tuple[Mutant, Fingerprint]] = field(default_factory=list)

    @property
    def score(self) -> float:
        """Return the share that the cases catch."""
        return 1 - len(self.passing) / self.made if self.made else 1.0


def tally(lesson: Lesson, exercise: LessonExercise, root: Path) -> Tally:
    """Run every mutant of an exercise on all its cases."""
    judged = exercises()[exercise.id]
    cases = (*judged.probe.cases, *map(hidden_case, exercise.hidden))
    right = _right(judged)
    found = Tally()
    for source in sources(lesson, exercise, root):
        for mutant in mutants(source.text, source.definition, source.known):
            answer = answer_of(mutant, source)
            if answer is None:
                continue
            found.made += 1
            seen = tuple(prints(judged, judged.probe.cases, answer))
            if not all(map(same_print, seen, right)):
                if any(one is not None for one in seen):
                    _keep(found.found, mutant, Fingerprint(mutant.as_if, seen))
            elif not is_caught(judged, cases, answer):
                found.passing.append((source, mutant))
    return found


def _keep(found: list[tuple[Mutant, Fingerprint]], mutant: Mutant, new: Fingerprint) -> None:
    """Keep one of those that look alike: the one that is told best."""
    for place, (_, old) in enumerate(found):
        if all(map(same_print, old.prints, new.prints)):
            if _vagueness(new.as_if) < _vagueness(old.as_if):
                found[place] = (mutant, new)
            return
    found.append((mutant, new))


def _vagueness(as_if: tuple[str, ...]) -> bool:
    return any(word in sentence for word in _VAGUE for sentence in as_if)


def _right(exercise: Exercise) -> list[Print | None]:
    return [print_of(expected_of(exercise, case)) for case in exercise.probe.cases]


def fingerprints(lesson: Lesson, exercise: LessonExercise, root: Path) -> Fingerprints:
    """Make what is kept of an exercise; what can only be told vaguely is left out."""
    judged = exercises()[exercise.id]
    single = [(m, f) for m, f in tally(lesson, exercise, root).found if not _vagueness(m.as_if)]
    pairs = _pairs(lesson, exercise, root, single)
    names = tuple(case.name for case in judged.probe.cases)
    right = tuple(_right(judged))
    return Fingerprints(
        stamp(exercise), names, right, tuple(f for _, f in single), tuple(f for _, f in pairs)
    )


def with_bank(kept: Fingerprints, exercise: LessonExercise) -> Fingerprints:
    """Renew what is kept of the bank's mistakes."""
    judged = exercises()[exercise.id]
    bank = {m.name: m.answer for m in judged.mistakes if m.answer is not None}
    found = {name: tuple(_prints_of(judged, name, answer)) for name, answer in bank.items()}
    return replace(kept, bank_stamp=bank_stamp(judged), bank=found, right=tuple(_right(judged)))


def _prints_of(judged: Exercise, name: str, answer: Any) -> Iterator[Print | None]:
    for case in judged.probe.cases:
        yield print_of(observed(judged, name, answer, case))


def bank_stamp(exercise: Exercise) -> str:
    """Return the state of the code that an exercise's bank is made from."""
    assert exercise.fingerprints is not None
    return _digest(sorted(exercise.fingerprints.parent.rglob("*.py")))


def _pairs(
    lesson: Lesson,
    exercise: LessonExercise,
    root: Path,
    single: Sequence[tuple[Mutant, Fingerprint]],
) -> list[tuple[Mutant, Fingerprint]]:
    """Make two changes of the solution at once; what one change gives as well is left out."""
    judged = exercises()[exercise.id]
    source = next(sources(lesson, exercise, root))
    own = {m.place for m in mutants(source.text, source.definition, source.known)}
    told = [(m.place, m.as_if[0]) for m, _ in single if m.place in own]
    chosen = dict(told[:MOST_AT_ONCE])
    right = Fingerprint((), tuple(map(combined, _right(judged))))
    alone = [(m, Fingerprint((), tuple(map(combined, f.prints)))) for m, f in single]
    found = [*alone, (single[0][0], right)] if single else []
    known = len(found)
    for mutant in mutants_of_two(source.text, source.definition, source.known, chosen):
        answer = answer_of(mutant, source)
        if answer is not None:
            seen = tuple(map(combined, prints(judged, judged.probe.cases, answer)))
            if any(one is not None for one in seen):
                _keep(found, mutant, Fingerprint(mutant.as_if, seen))
    return found[known:]


def with_fingerprints(lesson: Lesson) -> Iterator[LessonExercise]:
    """Return the exercises whose answers are code that computes something."""
    for exercise in lesson.exercises:
        if exercises()[exercise.id].probe.kind in (ExerciseKind.WRITE, ExerciseKind.REPAIR):
            yield exercise


def stamp(exercise: LessonExercise) -> str:
    """Return the state of what an exercise's fingerprints are made from, inputs apart."""
    machine = sorted(Path(__file__).parent.glob("*.py"))
    cases = exercises()[exercise.id].probe.cases
    return _digest(machine, exercise.source, repr(cases))


def _digest(paths: Sequence[Path], *texts: str) -> str:
    whole = [*texts, *(path.read_text(encoding="utf-8") for path in paths)]
    return hashlib.sha256("\0".join(whole).encode()).hexdigest()[:16]

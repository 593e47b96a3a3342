"""Arrange what runs of a submission and where each exercise is observed, for both engines.

The course's own engine makes steps of it, nbgrader's a notebook. So nothing here takes more than
the lesson's text and the submission's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.lesson import Lesson
from grader.reading.homes import Answers, Places, answers_of, home_of, places_of
from grader.reading.known_cells import code_cells
from grader.reading.submission import SubmittedCell, verify_size
from grader.static_analysis.cells import as_any_editor, as_python, is_readable
from grader.static_analysis.definitions import definitions_alone


@dataclass(frozen=True)
class Arrangement:
    """The code of a submission.

    Attributes:
        cells: the cells that hold code, in order, with the names that the lesson knows.
        runs: what runs of each, as Python; None of one that does not run.
        unread: those that cannot be read.
        answers: which exercises each defines.
        homes: exercise -> the place, among the cells, of its answer.
        places: exercise -> the place behind which it is observed.

    """

    cells: Sequence[SubmittedCell]
    runs: Sequence[str | None]
    unread: Sequence[SubmittedCell]
    answers: Answers
    homes: Places
    places: Places

    @property
    def tests(self) -> frozenset[str]:
        """The names of the test cells."""
        return frozenset(f"test_{name}" for name in self.homes)


def arranged(lesson: Lesson, submitted: Sequence[SubmittedCell]) -> Arrangement:
    """Keep the student's cells in order, and observe each exercise where its test stands.

    Test cells never run: they only say where to look. A test that is missing, or stands before its
    exercise, counts as standing right after it (see `homes` for where that is). A cell that cannot
    be read does not run either: nothing in it was checked. What a student defines in a
    demonstration or beside a test is there all the same, as in the notebook.

    Raises:
        Malformed: there is more code than grading reads.

    """
    cells = code_cells(lesson, submitted)
    verify_size(cells)
    left_out = _left_out(lesson, cells)
    unread = [c for c in cells if c.index not in left_out and not is_readable(c.source)]
    no_code = {c.index for c in unread}
    sources = {c.index: as_python(c.source) for c in cells if c.index not in no_code}
    sources |= _definitions(lesson, sources, left_out)
    answers = answers_of(lesson, cells, sources)
    homes = {e.id: home_of(e.id, cells, answers) for e in lesson.exercises}
    idle = left_out | no_code
    runs = [sources.get(c.index) or ("" if c.index not in idle else None) for c in cells]
    return Arrangement(cells, runs, unread, answers, homes, places_of(cells, homes))


def _left_out(lesson: Lesson, cells: Sequence[SubmittedCell]) -> set[int]:
    """Return which cells do not run: tests, and demonstrations, even if their tag is lost."""
    idle = {as_any_editor(c.source) for c in lesson.cells if "skip-grading" in c.tags}
    tests = {f"test_{exercise.id}" for exercise in lesson.exercises}
    return {
        c.index for c in cells if c.skipped or c.name in tests or as_any_editor(c.source) in idle
    }


def _definitions(lesson: Lesson, sources: Mapping[int, str], left_out: set[int]) -> dict[int, str]:
    """Return what a student defines in cells that do not run, by their places."""
    idle = {index: source for index, source in sources.items() if index in left_out}
    running = [source for index, source in sources.items() if index not in left_out]
    own = (as_any_editor(c.source) for c in lesson.cells if c.test or "skip-grading" in c.tags)
    ids = [exercise.id for exercise in lesson.exercises]
    alone = definitions_alone([*idle.values()], running, "\n".join(own), ids)
    return dict(zip(idle, alone, strict=True))

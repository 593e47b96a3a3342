"""A graded class made by hand: copies with verdicts, and a gradebook, without running anything."""

import json
import shutil
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SAWarning

from grader.course.beside import OUTCOME, VERDICT
from grader.course.course import GradingCourse
from grader.course.graded_copies import fingerprint
from grader.judging.outcome import ExerciseResult, Outcome, Status
from grader.recording.verdict_file import verdict_file
from tests.course.lesson_runs import ROOT, all_lessons
from utils.checks.exercise import Case, Mistake
from utils.checks.render import as_mimebundle
from utils.checks.verdict import CaseResult, Finding, Verdict

LESSON = "02_attention"
TOTAL = sum(exercise.points for exercise in all_lessons()[LESSON].exercises)
DUE = datetime(2026, 11, 20, 12)
NO_SCALING = Mistake("no_scaling", "The scores are not divided.", "Look at `sqrt`.")
ROW_MISSED = Mistake("row_missed", "The last row is missed.", "Count them.")


def right(exercise: str, points: float) -> Verdict:
    results = (CaseResult(Case("plain"), None), CaseResult(Case("large"), None))
    return Verdict(exercise, results, points=points)


def wrong(exercise: str, points: float, *causes: Mistake, pictures: Any = None) -> Verdict:
    details = ("x[0]: expected 1, got 2",)
    finding = Finding("values", "x", "3 of 4 entries differ.", details, pictures=pictures)
    results = (CaseResult(Case("plain", required=True), finding), CaseResult(Case("large"), None))
    return Verdict(exercise, results, *causes, points=points)


def stub(exercise: str, points: float) -> Verdict:
    results = (CaseResult(Case("plain"), Finding("stub", "", "Not written yet.")),)
    return Verdict(exercise, results, points=points)


def outcome(status: Status = Status.GRADED, **judged: Any) -> Outcome:
    """An outcome in which every exercise is right unless told otherwise."""
    exercises = all_lessons()[LESSON].exercises
    how = {e.id: judged.get(e.id, right) for e in exercises}
    results = [ExerciseResult(e.id, e.points, how[e.id](e.id, e.points)) for e in exercises]
    return Outcome(LESSON, status, tuple(results))


def empty_gradebook(folder: Path) -> Path:
    """Make a gradebook that knows the lesson; it takes a second, so tests copy one."""
    course = GradingCourse(ROOT, folder)
    with course.gradebook() as gradebook:
        gradebook.add_assignment(LESSON, duedate=DUE)
        gradebook.add_notebook(LESSON, LESSON)
        for exercise in all_lessons()[LESSON].exercises:
            settings = {"max_score": exercise.points, "cell_type": "code"}
            gradebook.add_grade_cell(f"test_{exercise.id}", LESSON, LESSON, **settings)
            gradebook.add_solution_cell(exercise.id, LESSON, LESSON)
    return folder / "gradebook.db"


class GradedClass:
    """A course folder that is filled copy by copy; every exercise is right unless told."""

    def __init__(self, folder: Path, gradebook: Path) -> None:
        shutil.copy(gradebook, folder)
        self.course = GradingCourse(ROOT, folder)
        vars(self.course)["lessons"] = list(all_lessons().values())  # read once for all tests
        self.lesson = all_lessons()[LESSON]

    def add(
        self,
        student: str,
        *verdicts: Verdict,
        sources: dict[str, str] | None = None,
        status: str = "graded",
        notes: tuple[str, ...] = (),
        when: datetime = DUE,
        extra_outputs: tuple[dict[str, Any], ...] = (),
        first_name: str = "",
        first_tries: dict[str, float] | None = None,
        is_whole: bool = True,
    ) -> Path:
        """Add a submission and give the path of its graded copy.

        With outputs of nbgrader's own engine, or if it is not whole, there is no verdict.json.
        """
        given = {verdict.exercise: verdict for verdict in verdicts}
        judged = [given.get(x.id, right(x.id, x.points)) for x in self.lesson.exercises]
        with self.course.gradebook() as gradebook, warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own relations warn
            gradebook.update_or_create_student(student, first_name=first_name or None)
            submission = gradebook.update_or_create_submission(
                self.lesson.name, student, timestamp=when
            )
            scores = {f"test_{verdict.exercise}": verdict.score for verdict in judged}
            for grade in submission.notebooks[0].grades:
                grade.auto_score = scores[grade.name]
            gradebook.db.commit()
        cells = [
            c for v in judged for c in _cells(v, (sources or {}).get(v.exercise), extra_outputs)
        ]
        tries = {name: ["x", share] for name, share in (first_tries or {}).items()}
        about = {"status": status, "notes": list(notes), "submission": "x", "first_tries": tries}
        name = self.lesson.name
        path = self.course.folder / "autograded" / student / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        notebook = {"cells": cells, "metadata": {OUTCOME: about}}
        copy = json.dumps(notebook).encode()
        path.write_bytes(copy)
        path.with_name(VERDICT).unlink(missing_ok=True)
        if is_whole and not extra_outputs:
            results = [ExerciseResult(v.exercise, v.points or 0.0, v) for v in judged]
            told = {**about, "notebook": fingerprint(copy)}
            judgement = Outcome(name, Status(status), tuple(results), notes)
            path.with_name(VERDICT).write_bytes(verdict_file(judgement, notebook, told))
        return path

    def change(self, student: str, edit: Any) -> None:
        """Change a student's submission in the gradebook, as formgrader does."""
        with self.course.gradebook() as gradebook:
            edit(gradebook.find_submission(self.lesson.name, student))
            gradebook.db.commit()

    def page(self, student: str) -> Path:
        name = self.lesson.name
        return self.course.folder / "feedback" / student / name / f"{name}.html"


def _cells(verdict: Verdict, source: str | None, extra: tuple[dict[str, Any], ...]) -> list[Any]:
    code = source if source is not None else f"def {verdict.exercise}(): ..."
    output = {"output_type": "display_data", "data": as_mimebundle(verdict)}
    return [
        {"cell_type": "code", "source": code, "outputs": [],
         "metadata": {"nbgrader": {"grade_id": verdict.exercise, "solution": True}}},
        {"cell_type": "code", "source": "the test", "outputs": [output, *extra],
         "metadata": {"nbgrader": {"grade_id": f"test_{verdict.exercise}", "grade": True}}},
    ]  # fmt: skip


def grade_of(submission: Any, exercise: str) -> Any:
    grades = submission.notebooks[0].grades
    return next(grade for grade in grades if grade.name == f"test_{exercise}")


def comment_on(submission: Any, exercise: str) -> Any:
    comments = submission.notebooks[0].comments
    return next(comment for comment in comments if comment.name == exercise)

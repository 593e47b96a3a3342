"""A made-up class of six, derived from the solutions, to see grading at work."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.lesson import Lesson
from grader.authoring.notebook import source_notebook
from grader.authoring.regions import HIDDEN, without_hidden
from grader.errors import CourseError


@dataclass(frozen=True)
class Edit:
    """A mistake made in a right answer: a piece of its text, replaced wherever it occurs."""

    exercise: str
    right: str
    wrong: str


# Student -> what they got wrong. "ada" is right everywhere; "dan" hands in the stubs.
CLASS: Mapping[str, Sequence[Edit]] = {
    "ada": (),
    "ben": (
        Edit("stable_softmax", "(x - highest).exp()", "x.exp()"),
        Edit("shift_right", "targets[:, :-1]", "targets"),
        Edit("scaled_dot_product_attention", " / q.shape[-1] ** 0.5", ""),
        Edit("merge_heads", "x.transpose(1, 2)", "x"),
        Edit("TokenEmbedding", " * math.sqrt(self.table.embedding_dim)", ""),
        Edit("LayerNorm", "(centred**2).mean(-1, keepdim=True)", "x.var(-1, keepdim=True)"),
        Edit("accuracy", "max(real.sum().item(), 1)", "max(tags.numel(), 1)"),
    ),
    "cleo": (
        Edit("masked_mean", "kept.sum(1).clamp(min=1)", "x.shape[1]"),
        Edit("padding_mask", "positions < lengths", "positions <= lengths"),
    ),
    "dan": (),
    "eve": (
        Edit("pairwise_dot", "a @ b.transpose(-2, -1)", "b @ a.transpose(-2, -1)"),
        Edit("causal_mask", ".tril()", ".triu()"),
        Edit("predict_score_spread", "= 8.0", "= 64.0"),
    ),
    "finn": (Edit("scaled_dot_product_attention", "~mask", "mask"),),
}
UNTOUCHED = "dan"


def make_class(folder: Path, lessons: Sequence[Lesson]) -> None:
    """Empty a course's folder and write the six submissions into it.

    Raises:
        CourseError: a lesson is not built.

    """
    for lesson in lessons:
        if not lesson.release_path.is_file():
            raise CourseError(
                f"{lesson.name} is not built yet. Run make build, then the same command."
            )
    shutil.rmtree(folder, ignore_errors=True)
    for lesson in lessons:
        for student, text in submissions(lesson).items():
            path = folder / "submitted" / student / lesson.name / f"{lesson.name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")


def submissions(lesson: Lesson) -> dict[str, str]:
    """Return everybody's notebook of a lesson, by student."""
    return {name: submission(lesson, name, edits) for name, edits in CLASS.items()}


def submission(lesson: Lesson, student: str, edits: Sequence[Edit]) -> str:
    """Return one student's notebook: the release, or the solution with the edits."""
    if student == UNTOUCHED:
        return lesson.release_path.read_text(encoding="utf-8")
    notebook = source_notebook(lesson)
    for cell in notebook.cells:
        if HIDDEN[0] in cell.source:
            cell.source = without_hidden(cell.source)
        for edit in edits:
            if cell.id == edit.exercise:
                cell.source = edited(cell.source, edit)
    return json.dumps(notebook)


def edited(source: str, edit: Edit) -> str:
    """Make the mistake.

    Raises:
        CourseError: the solution does not hold the right piece (it was rewritten).

    """
    if edit.right not in source:
        raise CourseError(
            f"the demo's mistake in {edit.exercise} looks for {edit.right!r} in the solution and "
            "does not find it: adapt grader/authoring/sample_class.py"
        )
    return source.replace(edit.right, edit.wrong)

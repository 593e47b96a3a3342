"""A small course for the tests of the lab: two lessons, the second one with two exercises."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from utils.lab.exchange import Course

LESSONS = ["00_first", "01_second"]
STUB = "def double(x):\n    raise NotImplementedError"


def write_lesson(course: Course, lesson: str, source: str) -> None:
    folder = course.source(lesson)
    folder.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=[new_code_cell(source, id="only")])
    nbformat.write(notebook, folder / f"{lesson}.ipynb")


def exercise_cells(name: str, stub: str, points: float) -> list[nbformat.NotebookNode]:
    """The student's cell and the test behind it, with the metadata that nbgrader writes."""
    answer = {"grade": False, "solution": True, "locked": False, "grade_id": name}
    test = {"grade": True, "solution": False, "locked": True, "grade_id": f"test_{name}"}
    return [
        new_code_cell(stub, id=name, metadata={"nbgrader": answer}),
        new_code_cell(
            f"check.{name}({name})",
            id=f"test_{name}",
            metadata={"nbgrader": {**test, "points": points}},
        ),
    ]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of two lessons that nobody has opened yet."""
    made = Course(tmp_path)
    write_lesson(made, LESSONS[0], "1 + 1")
    write_lesson(made, LESSONS[1], "1 + 1")
    return made


@pytest.fixture
def with_exercises(course: Course) -> Course:
    """The course with a heading and exercises: one in the first lesson, two in the second."""
    asked = {LESSONS[0]: [("half", 1)], LESSONS[1]: [("double", 3), ("triple", 0.5)]}
    for i, lesson in enumerate(LESSONS):
        text = f"# 0{i} · Lesson {i}\n\nWhy? **Time:** {20 + i} minutes.\n**Points:** 4."
        cells = [new_markdown_cell(text, id="first")]
        for name, points in asked[lesson]:
            cells += exercise_cells(name, STUB.replace("double", name), points)
        path = course.source(lesson) / f"{lesson}.ipynb"
        nbformat.write(new_notebook(cells=cells), path)
    return course

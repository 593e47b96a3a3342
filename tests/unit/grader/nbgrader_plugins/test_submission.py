"""A small course through nbgrader's own programs: what students do to a notebook, and its price."""

import html
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from grader.authoring import lessons
from grader.authoring.files import write_if_changed
from grader.authoring.notebook import as_text, source_notebook
from grader.authoring.release import released
from grader.course.beside import OUTCOME, VERDICT
from grader.course.graded_copies import copy_path, read_copy
from grader.nbgrader_plugins import RepairCells
from tests.browser.kernels import set_traps, sprung
from tests.unit.course_files import LESSON, LESSON_WITHOUT_PLOT, ROOT, STARTUP, make_course

NAME = "01_doubling"
RIGHT = "def double(x):\n    return 2 * x"
FAKE = """class Fake:
    def double(self, answer, **_): return -1.0
    def predict_sum(self, answer, **_): return 99.0
check = Fake()"""
LOUD = """import sys
def double(x):
    print("a warning", file=sys.stderr)
    print(get_ipython().user_ns["In"][-1])
    return 2 * x"""

Edit = Callable[[list], None]


def cell_of(cells: list, name: str) -> nbformat.NotebookNode:
    return next(cell for cell in cells if cell.id == name)


def answer(double: str, predict: str = "predict_sum = 42") -> Edit:
    def edit(cells: list) -> None:
        cell_of(cells, "double").source = double
        cell_of(cells, "predict_sum").source = predict

    return edit


def right_and(then: Edit) -> Edit:
    def edit(cells: list) -> None:
        answer(RIGHT)(cells)
        then(cells)

    return edit


def copy_all(cells: list) -> None:
    cells.extend([nbformat.from_dict({**cell, "id": f"copy-{cell.id}"}) for cell in list(cells)])


def delete_tests_and_an_exercise(cells: list) -> None:
    cells[:] = [cell for cell in cells if not re.match("test_|predict_sum", cell.id)]


def forge_metadata(cells: list) -> None:
    cell_of(cells, "test_double").metadata.nbgrader.update(schema_version=99, points=1000)
    cell_of(cells, "double").metadata.nbgrader = "nothing"
    cells[0].metadata["nbgrader"] = {"grade": True, "grade_id": "extra", "points": 1000}


def edit_tests(cells: list) -> None:
    cell_of(cells, "test_double").source = "3.0"
    cell_of(cells, "test_predict_sum").source = "0.5"


def fake_check(cells: list) -> None:
    cells.insert(2, new_code_cell(FAKE))


def turn_into_text(cells: list) -> None:
    for name, kind in (("double", "markdown"), ("predict_sum", "raw"), ("test_double", "markdown")):
        cell = cell_of(cells, name)
        cell.cell_type = kind
        for part in ("outputs", "execution_count"):
            cell.pop(part, None)


def lose_metadata(cells: list) -> None:
    for cell in cells:
        cell.metadata = nbformat.from_dict({})


def lose_everything_but_text(cells: list) -> None:
    lose_metadata(cells)
    turn_into_text(cells)
    for number, cell in enumerate(cells):
        cell.id = f"other-{number}"


def answer_beside_the_test(cells: list) -> None:
    cell_of(cells, "test_double").source = f"{RIGHT}\ncheck.double(double)"
    cell_of(cells, "double").source = "# See below."


def hand_in_another_lesson(cells: list) -> None:
    cells[:] = [new_code_cell("def triple(x):\n    return 3 * x")]


# What each student hands in, and the points of (double, predict_sum) that it must earn.
STUDENTS: dict[str, tuple[Edit, float, float]] = {
    "right": (answer(RIGHT), 3, 0.5),
    "untouched": (lambda cells: None, 0, 0),
    "half": (answer("def double(x):\n    return 34", "predict_sum = 41"), 1.5, 0),
    "loud": (answer(LOUD), 3, 0.5),
    "broken": (answer("def twice(x): return 2 * x"), 0, 0.5),
    "copied": (right_and(copy_all), 3, 0.5),
    "deleted": (right_and(delete_tests_and_an_exercise), 3, 0),
    "nothing": (lambda cells: cells.clear(), 0, 0),
    "forged": (right_and(forge_metadata), 3, 0.5),
    "edited": (edit_tests, 0, 0),
    "fake": (fake_check, 0, 0),
    "text": (right_and(turn_into_text), 3, 0.5),
    "bare": (right_and(lose_metadata), 3, 0.5),
    "other": (right_and(lose_everything_but_text), 3, 0.5),
    "beside": (right_and(answer_beside_the_test), 3, 0.5),
    "timed": (answer(f"%%timeit -n 1 -r 1\n{RIGHT}"), 3, 0.5),
    "odd": (answer("def double(x):\n    return 2\u00a0* x"), 0, 0.5),
    "wrong": (hand_in_another_lesson, 0, 0),
}


def nbgrader(course: Path, *words: str) -> None:
    """Run nbgrader as an instructor would; the course's folder provides utils."""
    path = os.pathsep.join(map(str, (STARTUP, course, ROOT)))
    result = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words, NAME],
        cwd=course,
        env=os.environ | {"PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course after generate_assignment, autograde and generate_feedback."""
    course = make_course(tmp_path_factory.mktemp("course"), LESSON_WITHOUT_PLOT)
    (lesson,) = lessons(course)
    write_if_changed(lesson.solution_path, as_text(source_notebook(lesson)))
    release = released(lesson, course)
    nbgrader(course, "generate_assignment")
    for student, (edit, _, _) in STUDENTS.items():
        notebook = nbformat.reads(release, as_version=4)
        edit(notebook.cells)
        notebook.metadata[OUTCOME] = {"status": "grader error"}  # theirs counts for nothing
        home = course / "submitted" / student / NAME
        write_if_changed(home / f"{NAME}.ipynb", as_text(notebook))
        (home / VERDICT).write_text('{"status": "crashed", "submission": "forged"}')  # nor this
    set_traps(course / "submitted" / "right" / NAME)
    nbgrader(course, "autograde")
    nbgrader(course, "generate_feedback")
    return course


@pytest.mark.parametrize("student", STUDENTS)
def test_a_submission_earns_what_its_answers_are_worth(graded, student):
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(NAME, NAME, student).grades
        earned = {grade.name: (grade.score, grade.max_score) for grade in grades}
        assert not any(grade.needs_manual_grade for grade in grades)
    _, double, predict = STUDENTS[student]
    assert earned == {"test_double": (double, 3), "test_predict_sum": (predict, 0.5)}


@pytest.mark.parametrize("student", STUDENTS)
def test_a_graded_copy_says_nothing_of_itself_that_its_student_wrote(graded, student):
    copy = read_copy(graded, student, NAME)
    assert copy is not None
    assert (copy.status, copy.is_ours, copy.is_whole) == ("graded", False, False)
    assert not copy_path(graded, student, NAME).with_name(VERDICT).exists()


def test_no_file_beside_a_notebook_runs_as_a_module_of_the_kernels(graded):
    assert (graded / "autograded" / "right" / NAME / "ipykernel_launcher.py").is_file()
    assert sprung(graded / "submitted" / "right" / NAME) == []


def page(course: Path, student: str) -> str:
    """Return a feedback page's text as a reader could find it: no tags, no entities."""
    text = (course / "feedback" / student / NAME / f"{NAME}.html").read_text()
    return html.unescape(re.sub(r"<[^>]+>", "", text)) + text


@pytest.mark.parametrize("student", STUDENTS)
def test_a_feedback_page_holds_no_hidden_test_and_no_answer(graded, student):
    text = page(graded, student)
    hidden = re.findall(r"(?m)^ +(dict\(case.*|hidden=\[dict.*)$", LESSON)
    assert len(hidden) == 3
    found = [line for line in [*hidden, "want=", "seventeen"] if line.strip() in text]
    assert found == []
    assert "secret_answer" not in text
    assert "19 + 22" not in text


def test_a_feedback_page_shows_verdict_score_and_the_students_own_work(graded):
    text = page(graded, "half")
    assert "double: 1 of 2 right" in text
    assert "Score: 1.5 / 3.5" in re.sub(r"\s+", " ", text)
    assert "return 34" in text


def test_a_feedback_page_names_the_error_of_a_test(graded):
    assert "NameError: name 'double' is not defined" in page(graded, "broken")
    assert "This test gave no score" in page(graded, "fake")


def test_a_feedback_page_says_what_became_of_cells(graded):
    assert "of type markdown; it counted as the code that it is." in page(graded, "text")
    assert "U+00A0 (no-break space)" in page(graded, "odd")
    assert "None of the lesson's exercises is in this notebook." in page(graded, "wrong")
    assert "%%timeit -n 1 -r 1" in page(graded, "timed")  # the cell as it was written


def test_an_assignment_that_is_no_lesson_of_the_course_is_repaired_as_nbgrader_does(tmp_path):
    (tmp_path / "solutions").mkdir()
    about = {"grade_id": "essay", "grade": True, "points": 1, "solution": True, "locked": False}
    cells = [new_code_cell(text, metadata={"nbgrader": dict(about)}) for text in ("a", "b")]
    resources = {"nbgrader": {"notebook": "essay", "assignment": "essay"}}
    step = RepairCells(root=str(tmp_path))
    repaired, _ = step.preprocess(nbformat.v4.new_notebook(cells=cells), resources)
    assert [bool(cell.metadata.nbgrader) for cell in repaired.cells].count(True) == 1


def test_a_demonstration_is_not_run_while_grading(graded):
    notebook = nbformat.read(graded / "autograded" / "right" / NAME / f"{NAME}.ipynb", as_version=4)
    outputs = {cell.source: cell.get("outputs") for cell in notebook.cells}
    assert outputs['print("trained")'] == []
    assert outputs["np.random.seed(5)\nnp.random.rand(7)"] != []

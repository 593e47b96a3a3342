from pathlib import Path

import pytest

from grader.authoring import lessons, read_lesson
from grader.authoring.notebook import source_notebook
from grader.authoring.percent import read_cells
from grader.authoring.validate import problems
from grader.errors import CourseError
from tests.unit.course_files import LESSON


def source_cells(course: Path) -> dict:
    notebook = source_notebook(lessons(course)[0])
    return {cell.id: cell for cell in notebook.cells}


def test_cells_get_the_exercise_id_or_their_position(course):
    assert list(source_cells(course)) == [
        "cell-01",
        "cell-02",
        "cell-03",
        "cell-04",
        "double",
        "test_double",
        "predict_sum",
        "test_predict_sum",
    ]


def test_an_exercise_header_becomes_a_solution_cell_of_schema_3(course):
    assert source_cells(course)["double"].metadata == {
        "nbgrader": {
            "cell_type": "code",
            "grade": False,
            "grade_id": "double",
            "locked": False,
            "schema_version": 3,
            "solution": True,
            "task": False,
        }
    }


def test_a_test_header_becomes_a_locked_grade_cell_with_points(course):
    metadata = source_cells(course)["test_predict_sum"].metadata.nbgrader
    assert metadata.points == 0.5
    assert (metadata.grade, metadata.solution, metadata.locked) == (True, False, True)


def test_plain_cells_carry_no_metadata_and_measured_ones_are_ignored_by_nbval(course):
    cells = source_cells(course)
    assert cells["cell-01"].metadata == cells["cell-02"].metadata == {}
    assert cells["cell-04"].metadata == {
        "tags": ["skip-grading", "measured", "nbval-ignore-output"]
    }


def test_a_lesson_tells_its_exercises_points_and_hidden_cases(course):
    (lesson,) = lessons(course)
    assert lesson.name == "01_doubling"
    assert [(e.id, e.points) for e in lesson.exercises] == [("double", 3.0), ("predict_sum", 0.5)]
    assert lesson.points == 3.5
    assert lesson.exercises[0].hidden == [
        {"case": "seventeen", "x": 17, "want": 34},
        {"case": "none", "x": -4, "want": -8},
    ]
    assert lesson.exercises[0].source.startswith("def double(")
    assert lesson.exercises[1].test_source.startswith("check.predict_sum(predict_sum)")


def test_a_cell_knows_the_line_of_its_header():
    lines = LESSON.splitlines()
    for cell in read_cells(LESSON, "x.py"):
        assert lines[cell.line - 1].startswith("# %%")
        assert lines[cell.line].endswith(cell.source.split("\n")[0])


def test_what_a_reader_does_to_a_header_is_not_seen_by_the_next_reader():
    first, second = read_cells(LESSON, "x.py"), read_cells(LESSON, "x.py")
    assert first == second
    for cell in first:
        cell.header["tags"] = ["of the first reader"]
    assert second == read_cells(LESSON, "x.py") != first


def test_text_before_the_first_header_is_refused():
    with pytest.raises(CourseError, match="under a `# %%` header"):
        read_cells("x = 1\n\n" + LESSON, "x.py")


@pytest.mark.parametrize("name", ["doubling.py", "06bc_doubling.py", "06B_doubling.py", "b_x.py"])
def test_a_badly_named_text_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match=r"NN_name\.py"):
        read_lesson(tmp_path / name)


def test_a_lab_stands_between_its_lesson_and_the_next(course):
    first = course / "solutions" / "01_doubling.py"
    for name in ("01b_lab.py", "02_later.py"):
        (course / "solutions" / name).write_text(first.read_text("utf-8"), encoding="utf-8")
    assert [x.number for x in lessons(course)] == ["01", "01b", "02"]


def test_faults_of_all_lessons_are_told_with_file_and_line(course):
    (course / "solutions" / "02_bad.py").write_text(
        '# %% poinst=3\nx = 1\n\n# %% tags=["a"]\ny = 2\n'
    )
    (course / "solutions" / "03_bad.py").write_text("# %%\n\n# %% [markdown]\n# Text\n")
    with pytest.raises(CourseError) as caught:
        lessons(course)
    told = str(caught.value).split("\n")
    assert [line.split(": ")[0] for line in told] == [
        "solutions/02_bad.py:1",
        "solutions/02_bad.py:4",
        "solutions/03_bad.py:1",
    ]
    assert "'poinst'" in told[0]


def test_options_that_no_notebook_may_have_are_refused():
    with pytest.raises(CourseError, match="'a' is not of type 'array'"):
        read_cells('# %% tags="a"\nx = 1\n', "x.py")


def test_the_sample_lesson_has_no_problems():
    assert problems(read_cells(LESSON, "x.py")) == []


EXERCISE = '# %% exercise="double"'
TEST = '# %% test="double" points=3'
FAULTS = {
    "unknown key": (EXERCISE, EXERCISE + " seed=3", "unknown header key 'seed'"),
    "title": ("# %%\nnp", "# %% A plot\nnp", "reads as a title"),
    "key in a text cell": (
        "# %% [markdown]",
        '# %% [markdown] tags=["measured"]',
        "in a text cell",
    ),
    "raw cell": ("# %% [markdown]", "# %% [raw]", "use code or"),
    "unknown tag": ('"measured"]', '"mesured"]', "tags are a list of skip-grading"),
    "id not a name": (EXERCISE, '# %% exercise="double it"', "a Python name"),
    "id too long": (EXERCISE, f'# %% exercise="{"d" * 60}"', "at most 59"),
    "no points": (TEST, '# %% test="double"', "together"),
    "points without test": ("# %%\nimport", "# %% points=2\nimport", "together"),
    "points zero": (TEST, '# %% test="double" points=0', "above 0"),
    "points negative": (TEST, '# %% test="double" points=-3', "above 0"),
    "points text": (TEST, '# %% test="double" points="3"', "above 0"),
    "points true": (TEST, '# %% test="double" points=true', "above 0"),
    "points differ": (TEST, '# %% test="double" points=4', "points=3 in the hidden call"),
    "both roles": (EXERCISE, EXERCISE + ' test="double" points=3', "not both"),
    "test without exercise": (EXERCISE, "# %%", "no exercise cell before it"),
    "exercise without test": (TEST, "# %%", "no test cell: add"),
    "exercise twice": ('exercise="predict_sum"', 'exercise="double"', "second exercise cell"),
    "skipped exercise": (EXERCISE, EXERCISE + ' tags=["skip-grading"]', "remove skip-grading"),
    "skipped test": (TEST, TEST + ' tags=["skip-grading"]', "remove skip-grading"),
    "skipped imports": ("# %%\nimport", '# %% tags=["skip-grading"]\nimport', "first code cell"),
    "no check import": ("import check\n", "import check as c\n", "from utils.checks import check"),
    "no region": ("    # BEGIN SOLUTION\n", "", "without a `BEGIN SOLUTION`"),
    "open region": ("    # END SOLUTION\n", "", "without a `END SOLUTION`"),
    "nested region": (
        "    # BEGIN SOLUTION\n",
        "    # BEGIN SOLUTION\n    # BEGIN SOLUTION\n",
        "still open",
    ),
    "stub not comments": ("# predict_sum = None", "predict_sum = None", "is not a comment"),
    "stub without the name": ("# predict_sum = None", "# other = None", "stub does not define"),
    "stub not Python": ("# predict_sum = None", "# predict_sum =", "stub is not Python"),
    "solution without the name": ("def double", "def twice", "solution does not define double"),
    "region in a plain cell": ("np.random.seed(5)", "# BEGIN SOLUTION", "outside a cell"),
    "tests in a plain cell": ("np.random.seed(5)", "# BEGIN HIDDEN TESTS", "outside a cell"),
    "empty cell": ("np.random.seed(5)\n_ = plt.plot(np.random.rand(7))\n", "", "empty code cell"),
    "long cell": ("np.random.seed(5)\n", "x = 1\n" * 30, "31 lines"),
    "no hidden tests": ("# END HIDDEN TESTS", "", "without a `END HIDDEN TESTS`"),
    "another check": ("check.double(double)", "check.double(twice)", "exactly this form"),
    "more in a test": ("check.double(double)", "x = 1\ncheck.double(double)", "exactly this form"),
    "visible points": ("check.double(double)", "check.double(double, points=3)", "no keyword"),
    "computed points": ("    points=3,", "    points=1 + 2,", "written as a number"),
    "no points in the call": ("    points=3,\n", "", "takes points and hidden"),
    "hidden not a list": ("hidden=[dict(x=None, want=42)]", "hidden=cases", "literal list"),
    "hidden not literal": ("want=42", "want=6 * 7 + a", "literal values"),
    "hidden after the end": ("# BEGIN HIDDEN TESTS\ncheck.double(", "check.double(", "BEGIN"),
    "test not Python": ("check.double(double)", "check.double(double", "not Python"),
}


@pytest.mark.parametrize(("old", "new", "says"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_what_to_do(old, new, says):
    assert old in LESSON
    told = [p.message for p in problems(read_cells(LESSON.replace(old, new, 1), "x.py"))]
    assert any(says in message for message in told), told


def test_a_fault_in_a_test_cell_names_its_own_line():
    text = LESSON.replace("want=42", "want=a")
    (fault,) = problems(read_cells(text, "x.py"))
    assert "want=a" in text.split("\n")[fault.line - 1]


def test_colliding_cell_ids_are_refused():
    cell = '# %% exercise="test_double"\n# BEGIN SOLUTION\ntest_double = 1\n# END SOLUTION\n'
    told = [p.message for p in problems(read_cells(LESSON + "\n" + cell, "x.py"))]
    assert any("collide" in message for message in told)

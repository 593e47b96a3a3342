"""The README's table of lessons is what the lessons' texts say."""

import pytest

from grader.authoring.lesson import read_lesson
from grader.authoring.readme import BEGIN, END, with_lessons
from grader.cli import main
from grader.errors import CourseError

FIRST_CELL = """\
# %% [markdown]
# # 07 · Doubling: twice as much
#
# **What this lesson answers:** what is twice
# a number? And why?
# **Time:** 15 minutes. **Points:** 3.

# %%
from utils.checks import check

# %% exercise="double"
def double(x):
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION

# %% test="double" points=3
check.double(double)
# BEGIN HIDDEN TESTS
check.double(double, points=3, hidden=[dict(case="one", x=1)])
# END HIDDEN TESTS
"""
ROW = "| 07 Doubling | What is twice a number? | 15 | 1 | 3 | 4 |\n"


def lesson(tmp_path, text=FIRST_CELL):
    path = tmp_path / "solutions" / "07_doubling.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return read_lesson(path)


def test_a_row_says_what_the_first_cell_and_the_exercises_say(tmp_path):
    found = with_lessons(f"before\n{BEGIN}old\n{END}after\n", [lesson(tmp_path)], {"double": 4})
    assert found.startswith(f"before\n{BEGIN}| lesson |")
    assert found.endswith(f"|---|\n{ROW}{END}after\n")


def test_a_lab_has_its_whole_title_and_its_letter(tmp_path):
    lab = lesson(tmp_path, FIRST_CELL.replace("07 · Doubling", "07b · Lab: doubling: at home"))
    found = with_lessons(f"{BEGIN}{END}", [lab], {"double": 4})
    assert "| 07b Lab: doubling | What is twice a number? |" in found


def test_a_readme_without_the_markers_stays_as_it_is(tmp_path):
    assert with_lessons("# A course\n", [lesson(tmp_path)], {}) == "# A course\n"


@pytest.mark.parametrize("lost", ["07 · ", "**What this lesson answers:**", "minutes"])
def test_a_first_cell_that_lacks_something_is_named_with_what_it_needs(tmp_path, lost):
    poor = lesson(tmp_path, FIRST_CELL.replace(lost, ""))
    with pytest.raises(CourseError, match=r"07_doubling\.py: the first cell needs"):
        with_lessons(f"{BEGIN}{END}", [poor], {})


def test_the_check_names_a_readme_whose_table_differs(course, capsys):
    (course / "README.md").write_text(f"{BEGIN}old\n{END}", encoding="utf-8")
    for text in (course / "solutions").glob("*.py"):
        text.unlink()
    assert main(["build", "--check"]) == 1
    assert "README.md has another table of lessons: make build" in capsys.readouterr().out
    assert main(["build"]) == 0
    assert main(["build", "--check"]) == 0

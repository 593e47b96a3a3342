"""What the README's pictures show is what a student has: nothing of the course's own source."""

import ast

import pytest

from grader.authoring.regions import SOLUTION
from tests.browser.jupyterlab import solution
from tests.browser.screenshots import LESSON, RUN, as_students_write


@pytest.mark.parametrize("exercise", RUN)
def test_an_answer_in_a_picture_has_no_mark_of_a_solution_and_is_whole(exercise):
    ours = solution(LESSON, exercise)
    shown = as_students_write(ours)
    assert all(mark in ours and mark not in shown for mark in SOLUTION)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(ours))

"""Answers that are the published text, and answers that are not."""

import ast
import json

import pytest

from grader.pages.published import published
from tests.course.lesson_runs import all_lessons
from tests.course.other_hands import forms

SOLUTIONS = {e.id: e.source for lesson in all_lessons().values() for e in lesson.exercises}
ATTENTION = "scaled_dot_product_attention"


STUBS = {
    cell["id"]: "".join(cell["source"])
    for lesson in all_lessons().values()
    for cell in json.loads(lesson.release_path.read_text(encoding="utf-8"))["cells"]
}


def told(exercise: str, source: str) -> bool:
    solution = {exercise: SOLUTIONS[exercise]}
    return published({exercise: source}, solution, STUBS) == (exercise,)


def renamed(source: str) -> str:
    """The source in another layout, without comments and annotations, with other names."""
    tree = ast.parse(source)
    own = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own |= {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.arg, node.annotation = f"my_{node.arg}", None
        elif isinstance(node, ast.Name) and node.id in own:
            node.id = f"my_{node.id}"
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.unparse(tree)


@pytest.mark.parametrize("exercise", [ATTENTION, "MultiHeadAttention", "EncoderLayer", "collate"])
def test_the_published_text_is_told_whatever_its_layout_and_names(exercise):
    source = SOLUTIONS[exercise]
    assert told(exercise, source)
    assert told(exercise, f"import math\n\n{renamed(source)}\n# my own work\n")
    assert told(exercise, source.replace('"""', '"""Mine: ', 1))


def test_one_number_that_differs_makes_it_another_answer():
    assert not told(ATTENTION, SOLUTIONS[ATTENTION].replace("-1", "-2"))
    assert not told(ATTENTION, "def f(:\n")


def test_no_right_answer_by_another_hand_is_taken_for_the_published_text():
    right = [f for f in forms() if f.is_right and not f.demands]
    assert len(right) > 600
    assert [f.id for f in right if told(f.exercise, f.source)] == []


@pytest.mark.parametrize("exercise", ["causal_mask", "repaired_encoding", "repaired_layer"])
def test_short_answers_and_those_that_were_nearly_given_are_not_told(exercise):
    assert not told(exercise, SOLUTIONS[exercise])

"""Which cell counts as an exercise's answer, and what who wrote it before its stub reads."""

import json
from dataclasses import replace

import pytest

from grader.authoring.notebook import source_notebook
from grader.authoring.percent import Cell
from grader.authoring.regions import stubbed
from grader.judging.pipeline import grade_all
from grader.reading.plan import make_plan
from grader.reading.prepared import Item
from grader.reading.submission import read_submission
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.unit.grader.reading.test_plan import IDS, LESSON, WHOLE, code, notebook, steps

STUB = code(stubbed(LESSON.exercises[0].source, IDS[0]), IDS[0])
RIGHT = "def stable_softmax(x, dim=-1):\n    return x"
TESTED = [STUB, *WHOLE[1:]]  # its own cell as released


def observed_behind(source, cells, name=IDS[0]):
    """Whether an exercise is observed right behind a cell."""
    found, _ = steps(*cells)
    return found.index(name) == found.index(source) + 1


@pytest.mark.parametrize("own", [
    STUB["source"], STUB["source"].replace("    ", "  "), "# see below", "", "print('see below')",
    "def stable_softmax(x):\n    pass", "def stable_softmax(:",
])  # fmt: skip
@pytest.mark.parametrize("answer", [
    RIGHT, "def mine(x):\n    return x\nstable_softmax = mine",
    "from math import e as stable_softmax", "class stable_softmax(dict):\n    n = 1",
    f"{RIGHT}\ncheck.stable_softmax(stable_softmax)",
])  # fmt: skip
def test_where_its_own_cell_is_not_written_an_answer_below_its_test_counts(own, answer):
    cells = [code(own, IDS[0]), WHOLE[1], code(answer), *WHOLE[2:]]
    assert observed_behind(answer, cells)


def test_an_answer_at_the_end_counts_and_is_observed_before_the_other_exercises():
    found, notes = steps(*TESTED, code(RIGHT))
    assert found[-4:] == [RIGHT, *IDS]
    assert notes == ()


def test_of_answers_elsewhere_the_last_counts_and_stubs_are_none():
    empty = "def stable_softmax(x):\n    pass"
    cells = [
        *TESTED[:2],
        code("stable_softmax = 1"),
        code(RIGHT),
        code(empty),
        STUB | {"metadata": {}},
    ]
    assert observed_behind(RIGHT, cells)


def test_an_answer_in_a_later_demonstration_counts():
    cells = [*TESTED, code(f"train()\n{RIGHT}", tags=["skip-grading"]), code("x = 1")]
    assert observed_behind(f"\n{RIGHT}", cells)


def test_a_demonstration_of_the_lesson_that_binds_a_name_is_no_answer():
    source = "stable_softmax = torch.softmax"
    own = Cell("code", source, 1, {"tags": ["skip-grading"]})
    cells = read_submission(notebook(*TESTED, code(source)))[1]
    plan = make_plan(replace(LESSON, cells=[*LESSON.cells, own]), cells)
    assert [s.exercise or s.source for s in plan.steps] == steps(*TESTED)[0]


@pytest.mark.parametrize("more", ["stable_softmax = other", RIGHT, "import a as stable_softmax"])
def test_where_its_own_cell_is_written_what_later_cells_bind_does_not_count(more):
    found, _ = steps(*WHOLE, code(more))
    assert found.index(IDS[0]) == 1


def test_a_copy_of_the_stub_behind_a_written_cell_of_its_name_does_not_count():
    found, notes = steps(*WHOLE, STUB)
    assert found.index(IDS[0]) == 1
    assert notes == ()


def test_a_stub_that_no_other_cell_replaces_is_observed_at_its_test():
    assert observed_behind(STUB["source"], TESTED)


def late(*cells):
    """What stood where each exercise did, for those that wait for an earlier one."""
    plan = make_plan(LESSON, read_submission(notebook(*cells))[1])
    return {
        step.exercise: plan.steps[step.behind].source
        for step in plan.steps
        if step.behind is not None
    }


def test_exercises_that_wait_for_a_late_answer_are_observed_with_the_names_of_their_place():
    assert late(*WHOLE) == {}
    assert late(*TESTED, code("masked_mean = slow"), code(RIGHT)) == {
        "masked_mean": "masked_mean = 1", "pairwise_dot": "pairwise_dot = 1",
    }  # fmt: skip


def hidden(*cells):
    return make_plan(LESSON, read_submission(notebook(*cells))[1]).hidden


def test_who_wrote_an_answer_before_its_stub_is_told_so():
    assert hidden(code(RIGHT), *TESTED) == {
        IDS[0]: "Cell 1 (`def stable_softmax(x, dim=-1):`) defines `stable_softmax`, too, but cell "
        "2 (stable_softmax, `def stable_softmax(x: Tensor, dim: int = -1) -> Tensor:`), which "
        "comes later, still holds the stub."
    }


def test_who_writes_an_answer_anew_further_down_is_told_which_one_counts():
    assert hidden(*WHOLE, code("x = 1"), code(RIGHT)) == {
        IDS[0]: f"Cell {len(WHOLE) + 2} (`def stable_softmax(x, dim=-1):`) defines "
        "`stable_softmax` anew, further down. What counts is the exercise's own cell: put there "
        "what you mean to hand in."
    }


@pytest.mark.parametrize("cells", [
    WHOLE, TESTED, [*TESTED, code(RIGHT)], [code(RIGHT), code("# above", IDS[0]), *WHOLE[1:]],
    [*WHOLE, STUB],
])  # fmt: skip
def test_nobody_else_is_told_of_a_stub(cells):
    assert hidden(*cells) == {}


SOLVED = json.loads(json.dumps(source_notebook(LESSON)))["cells"]
ANSWERS = {cell["id"]: "".join(cell["source"]) for cell in SOLVED if cell.get("id") in IDS}
FULL = {exercise.id: exercise.points for exercise in LESSON.exercises}
SPOILT = code("stable_softmax = masked_mean = pairwise_dot = lambda *_, **__: 0\nimport gc")


def moved(own, behind=None, *more):
    """The solved notebook with another first cell, and its answer behind a cell if one is named."""
    cells = []
    for cell in SOLVED:
        name = cell.get("id")
        cells.append(cell | {"source": own} if name == IDS[0] else cell)
        cells += [code(ANSWERS[IDS[0]])] if behind is not None and name == behind else []
    return notebook(*cells, *more)


@pytest.fixture(scope="module")
def pool(one_fork_server):
    with Pool(1, Limits(wall_seconds=600)) as pool:
        yield pool


def graded(pool, data):
    return next(iter(grade_all([Item(data, LESSON)], pool)))[1]


@pytest.mark.parametrize("own", [STUB["source"], "# see below", "def stable_softmax(x):\n    pass"])
@pytest.mark.parametrize("more", [[], [code("masked_mean = pairwise_dot = None")]])
def test_a_right_answer_below_its_test_has_its_points(pool, own, more):
    outcome = graded(pool, moved(own, "test_stable_softmax", *more))
    assert (outcome.scores, outcome.notes) == (FULL, ())


def test_an_answer_at_the_end_costs_no_other_exercise_what_was_tried_out_before_it(pool):
    outcome = graded(pool, moved(STUB["source"], None, SPOILT, code(ANSWERS[IDS[0]])))
    assert (outcome.scores, outcome.notes) == (FULL, ())


def test_who_tries_out_behind_a_written_answer_keeps_its_points(pool):
    outcome = graded(pool, notebook(*SOLVED, SPOILT))
    assert outcome.scores == FULL


def test_a_corrected_answer_below_a_wrong_one_is_pointed_out_and_a_trial_below_a_right_one_not(
    pool,
):
    wrong = "def stable_softmax(x, dim=-1):\n    return x.exp()"
    for own, note in ((wrong, "defines `stable_softmax` anew"), (ANSWERS[IDS[0]], "")):
        cells = json.loads(moved(own))["cells"]
        result = graded(pool, notebook(*cells, code(RIGHT))).results[0]
        assert note in result.note
        assert bool(note) == bool(result.note)


def test_an_answer_before_its_stub_has_none_and_the_student_reads_why(pool):
    cells = [code(ANSWERS[IDS[0]]), *json.loads(moved(STUB["source"]))["cells"]]
    result = graded(pool, notebook(*cells)).results[0]
    assert (result.score, result.verdict.is_stub) == (0, True)
    assert result.note.startswith("Cell 1 (`def stable_softmax(")
    assert result.note.endswith("which comes later, still holds the stub.")

"""A cell or an answer that never ends, or ends its process, costs itself alone and is named."""

import json

import pytest

from grader.authoring.notebook import source_notebook
from grader.judging.ended_early import ended_early
from grader.judging.pipeline import grade_all
from grader.reading.plan import Plan, Step
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from grader.workers.progress import Event, What
from grader.workers.resuming import MOST_TIMES
from tests.course.lesson_runs import all_lessons
from tests.paced import paced

pytestmark = pytest.mark.usefixtures("one_fork_server")
LESSON = all_lessons()["00_start_here"]
IDS = [exercise.id for exercise in LESSON.exercises]
FULL = {exercise.id: exercise.points for exercise in LESSON.exercises}
CAUGHT = """while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
NEVER_ENDS = {
    "a plain loop": "while True:\n    pass\n",
    "a loop that catches everything": CAUGHT,
    "a sleep": "import time\ntime.sleep(600)\n",
    "a call that never returns to Python": "import re\nre.match('(a*)*b', 'a' * 60)\n",
}


def solved(first: str = "", answers: dict[str, str] | None = None) -> bytes:
    notebook = json.loads(json.dumps(source_notebook(LESSON)))
    for cell in notebook["cells"]:
        if cell.get("id") in (answers or {}):
            cell["source"] = answers[cell["id"]]
    if first:
        cell = {"cell_type": "code", "source": first, "metadata": {}, "outputs": []}
        notebook["cells"].insert(1, cell)
    return json.dumps(notebook).encode()


@pytest.fixture(scope="module")
def pool():
    with Pool(1, paced(LESSON, Limits(wall_seconds=16, cpu_seconds=16))) as pool:
        yield pool


def graded(pool, data):
    return next(iter(grade_all([Item(data, LESSON)], pool)))[1]


@pytest.mark.parametrize("code", NEVER_ENDS.values(), ids=NEVER_ENDS)
def test_a_cell_that_never_ends_is_named_and_the_lesson_is_graded_in_full(pool, code):
    outcome = graded(pool, solved(code))
    assert outcome.scores == FULL
    first = code.splitlines()[0]
    assert any("Cell 2" in note and f"`{first}`" in note for note in outcome.notes), outcome.notes
    assert any(" in line " in note for note in outcome.notes), outcome.notes


@pytest.mark.parametrize("code", NEVER_ENDS.values(), ids=NEVER_ENDS)
def test_an_answer_that_never_ends_costs_its_own_points_alone_and_is_named(pool, code):
    body = "".join(f"    {line}\n" for line in code.splitlines())
    answer = f"def {IDS[1]}(*args, **named):\n{body}"
    outcome = graded(pool, solved(answers={IDS[1]: answer}))
    assert outcome.scores == FULL | {IDS[1]: 0.0}
    assert any(f"answer of {IDS[1]} " in n and " in line " in n for n in outcome.notes)


def test_a_notebook_that_ends_its_process_has_crashed_and_the_rest_is_graded(pool):
    outcome = graded(pool, solved("import os\nos._exit(0)"))
    assert outcome.status == "crashed"
    assert outcome.scores == FULL
    assert any("Cell 2" in note and "`import os`" in note for note in outcome.notes)


def test_an_answer_that_ends_its_process_costs_its_own_points_alone(pool):
    answer = f"def {IDS[1]}(*args, **named):\n    import os\n    os._exit(0)"
    outcome = graded(pool, solved(answers={IDS[1]: answer}))
    assert outcome.status == "crashed"
    assert outcome.scores == FULL | {IDS[1]: 0.0}


def test_a_cell_that_fails_is_told_with_its_line_and_not_with_its_words(pool):
    outcome = graded(pool, solved("x = 1\nraise ValueError('secret')"))
    assert outcome.status == "graded"
    assert any("Cell 2" in n and "ValueError in line 2" in n for n in outcome.notes), outcome.notes
    assert not any("secret'" in note.partition("ValueError in")[0] for note in outcome.notes)


def test_an_error_with_a_made_up_name_is_not_quoted(pool):
    outcome = graded(pool, solved("raise type('of_1_2_3', (Exception,), {})"))
    assert "failed with an exception in line 1" in outcome.notes[0]


def test_a_cell_may_call_what_an_exercise_rules_out(pool):
    outcome = graded(pool, solved("import torch\ntorch.softmax(torch.zeros(2), 0)"))
    assert (outcome.notes, outcome.scores) == ((), FULL)


def told(pool, answer):
    """What the student reads about the second exercise when its cell is this."""
    outcome = graded(pool, solved(answers={IDS[1]: answer}))
    assert outcome.scores == FULL | {IDS[1]: 0.0}
    verdict = next(r.verdict for r in outcome.results if r.exercise == IDS[1])
    return verdict.first_failure.finding.message


WRITTEN = f"def {IDS[1]}(*args):\n    return args\n"


def test_an_answer_whose_statement_failed_is_told_the_cell_and_the_error(pool):
    message = told(pool, f"import not_here\n@(1 / 0)\n{WRITTEN}\n{IDS[1]}(4)")
    assert f"There is no `{IDS[1]}`: cell " in message
    assert "`import not_here`" in message
    assert message.endswith("failed with ZeroDivisionError.")


def test_an_answer_behind_a_statement_that_ends_its_cell_is_told_what_ended_it(pool):
    message = told(pool, f"1 / 0\nassert False, 'no further'\n{WRITTEN}")
    assert message.endswith("failed with AssertionError.")


def test_an_answer_behind_a_statement_that_failed_counts_and_the_failure_is_told(pool):
    cell = next(c for c in source_notebook(LESSON)["cells"] if c.get("id") == IDS[1])
    outcome = graded(pool, solved(answers={IDS[1]: f"x = 1\ny = x / 0\n\n{cell['source']}"}))
    assert (outcome.status, outcome.scores) == ("graded", FULL)
    (note,) = outcome.notes
    assert note.endswith(
        f"({IDS[1]}, `x = 1`) failed with ZeroDivisionError in line 2, `y = x / 0`."
    )


def test_of_a_cell_each_failure_is_told_but_not_what_follows_from_it_and_no_more_than_three(pool):
    cell = "y = 1 / 0\nprint(y)\nprint(z)\nimport not_here\nz = {}[y]\n{}[0]\n[][0]"
    told = [note.partition(" failed with ")[2] for note in graded(pool, solved(cell)).notes]
    assert told == [
        "ZeroDivisionError in line 1, `y = 1 / 0`.", "NameError in line 3, `print(z)`.",
        "ModuleNotFoundError in line 4, `import not_here`.",
    ]  # fmt: skip


def test_a_cell_that_makes_another_error_of_its_end_is_stopped_there(pool):
    """What stands behind it would have no time: the process would end, and the cell be left out."""
    waits = (
        "try:\n    n = 0\n    while True: n += 1\nfinally:\n    raise ValueError\nwhile True: pass"
    )
    cell = next(c for c in source_notebook(LESSON)["cells"] if c.get("id") == IDS[1])
    outcome = graded(pool, solved(answers={IDS[1]: f"{cell['source']}\n{waits}"}))
    assert (outcome.status, outcome.scores) == ("graded", FULL)
    assert [" was stopped in line " in note for note in outcome.notes] == [True]


def test_an_answer_whose_cell_was_stopped_is_told_so(pool):
    message = told(pool, f"while True:\n    pass\n{WRITTEN}")
    assert message.endswith("(masked_mean, `while True:`) ran too long and was stopped.")


def test_an_answer_whose_cell_ended_the_process_is_told_so(pool):
    message = told(pool, f"import os; os._exit(0)\n{WRITTEN}")
    assert message.endswith("`import os; os._exit(0)`) ended the notebook's process.")


def test_an_answer_whose_cell_had_to_be_ended_with_its_process_is_told_so(pool):
    message = told(pool, f"{CAUGHT}{WRITTEN}")
    assert message.endswith("(masked_mean, `while True:`) ran too long and was stopped.")


def test_an_answer_that_no_cell_defines_is_told_so(pool):
    assert told(pool, "x = 1").endswith("no cell that ran defines it.")


def test_an_answer_that_was_removed_is_told_where_it_was_made(pool):
    message = told(pool, f"{WRITTEN}\n\ndel {IDS[1]}")
    assert "any more: cell " in message
    assert "removed it" in message


def test_an_error_that_a_student_made_up_is_not_named_in_the_sentence(pool):
    message = told(pool, f"raise type('of_1_2_3', (Exception,), {{}})\n{WRITTEN}")
    assert message.endswith("failed with an exception.")


def test_cells_that_never_end_share_one_notebooks_time(pool):
    notebook = json.loads(solved())
    stuck = [{"cell_type": "code", "source": CAUGHT, "metadata": {}, "outputs": []}] * 9
    notebook["cells"][-1:-1] = stuck
    outcome = graded(pool, json.dumps(notebook).encode())
    assert outcome.status == "timed out"
    assert outcome.scores == FULL  # an earlier process came farther than the last one
    left_out = [note for note in outcome.notes if "did not come to its end" in note]
    assert 0 < len(left_out) < len(stuck)


def test_what_was_seen_before_the_last_crash_counts(pool):
    notebook = json.loads(solved())
    source = next("".join(c["source"]) for c in notebook["cells"] if c.get("id") == IDS[0])
    dying = f"{source}\nright = {IDS[0]}\ndef {IDS[0]}(*x, n=[], **y):\n    n.append(1)\n"
    dying += "    return right(*x, **y) if len(n) < 9 else __import__('os')._exit(0)\n"
    cell = {"cell_type": "code", "source": "__import__('os')._exit(0)", "metadata": {}}
    ended = [cell | {"outputs": []}] * MOST_TIMES  # after these, no other try follows
    whole = json.loads(solved(answers={IDS[0]: dying}))
    whole["cells"] = [*ended, *whole["cells"]]
    assert 0 < graded(pool, json.dumps(whole).encode()).scores[IDS[0]] < FULL[IDS[0]]


def test_a_long_cell_is_split_into_lines_once_however_many_events_there_are():
    n_split = []

    class Text(str):
        def splitlines(self, keepends=False):
            n_split.append(1)
            return super().splitlines(keepends)

    plan = Plan([Step(source=Text("a = 1\nb = 2"), label="Cell 1")], ())
    told = [Event(What.STOPPED, 0, case, 0, 2) for case in range(50)]
    assert ended_early(plan, told) == (
        "Cell 1 did not come to its end and was stopped in line 2, `b = 2`.",
    )
    assert len(n_split) == 1

"""What is run and observed for notebooks of every shape."""

import json

import pytest

from grader.judging import pipeline
from grader.notebook_file import MOST_CELLS, Malformed
from grader.reading import prepared as reading
from grader.reading.cell_notes import plain_code
from grader.reading.plan import make_plan
from grader.reading.prepared import Item
from grader.reading.submission import MOST_SOURCE, read_submission
from grader.sandbox import Limits
from grader.static_analysis.cells import as_python
from grader.workers.pool import Pool
from tests.course.lesson_runs import all_lessons

LESSON = all_lessons()["00_start_here"]
IDS = [exercise.id for exercise in LESSON.exercises]


def code(source, name="", tags=()):
    metadata = {"nbgrader": {"grade_id": name}} if name else {}
    return {"cell_type": "code", "source": source, "metadata": metadata | {"tags": list(tags)}}


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": list(cells)}).encode()


def steps(*cells):
    plan = make_plan(LESSON, read_submission(notebook(*cells))[1])
    return [step.exercise or step.source.rstrip("\n") for step in plan.steps], plan.notes


WHOLE = [cell for name in IDS for cell in (code(f"{name} = 1", name), code("x", f"test_{name}"))]


def test_a_whole_notebook_is_run_in_order_with_tests_observed_and_not_run():
    assert steps(code("a"), *WHOLE)[0] == [
        "a", "stable_softmax = 1", "stable_softmax", "masked_mean = 1", "masked_mean",
        "pairwise_dot = 1", "pairwise_dot",
    ]  # fmt: skip
    assert steps(*WHOLE)[1] == ()


def test_cells_tagged_as_demonstrations_do_not_run():
    assert "train()" not in steps(code("train()", tags=["skip-grading"]), *WHOLE)[0]


@pytest.mark.parametrize("name", ["[a](javascript:alert(1))", "![a](//b)", "`<b>", "www.a.b"])
def test_a_cells_name_that_is_no_name_is_not_told_as_it_is(name):
    (note,) = [note for note in steps(code("a b", name), *WHOLE)[1] if "syntax" in note]
    said = note.partition("(")[2].partition(",")[0]
    assert len(said) == len(name)
    assert not set(said) & set("[]()<>`:/.!")


def test_a_demonstration_that_lost_its_tag_does_not_run_either():
    source = next(cell.source for cell in LESSON.cells if "skip-grading" in cell.tags)
    assert source not in steps(code(source), *WHOLE)[0]


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\n", " \n"), ("\n", "\n")])
def test_a_demonstration_is_known_again_whatever_an_editor_does_to_its_lines(change):
    source = next(cell.source for cell in LESSON.cells if "skip-grading" in cell.tags)
    assert steps(code(f"{source}\n".replace(*change)), *WHOLE) == steps(*WHOLE)


def test_of_a_demonstration_the_student_s_own_definitions_are_there():
    source = next(cell.source for cell in LESSON.cells if "skip-grading" in cell.tags)
    more = "import json; train()\nimport re\n@deco\ndef helper():\n    return 1\nx = helper()"
    found, _ = steps(code(f"{source}\n{more}", tags=["skip-grading"]), *WHOLE)
    assert found[0].lstrip("\n") == "import re\n@deco\ndef helper():\n    return 1"
    assert found[0].count("\n") == f"{source}\n{more}".count("\n") - 1  # lines keep their numbers
    assert found[1:] == steps(*WHOLE)[0]


def test_what_is_defined_beside_a_test_is_there_when_it_is_observed():
    cell = code("def stable_softmax(x):\n    return x\ncheck()", "test_stable_softmax")
    found, _ = steps(WHOLE[0], cell, *WHOLE[2:])
    assert found[1:3] == ["def stable_softmax(x):\n    return x", "stable_softmax"]


def test_a_deleted_test_is_observed_behind_its_exercise():
    cells = [cell for cell in WHOLE if "test_masked_mean" not in json.dumps(cell)]
    found, notes = steps(*cells)
    assert found.index("masked_mean") == found.index("masked_mean = 1") + 1
    assert notes == ("The test cell of masked_mean was missing; it was put back.",)


def test_a_test_moved_before_its_exercise_is_observed_behind_it():
    found, _ = steps(*WHOLE[:2], *reversed(WHOLE[2:4]))
    assert found.index("masked_mean") == found.index("masked_mean = 1") + 1


@pytest.mark.parametrize(
    "cells",
    [
        [*reversed(WHOLE)],
        [*WHOLE[1:], WHOLE[0]],
        [WHOLE[0], *WHOLE[2:], WHOLE[1]],
        WHOLE[2:],
    ],
)
def test_no_exercise_is_observed_before_those_that_come_before_it_in_the_lesson(cells):
    found, _ = steps(*cells)
    assert [step for step in found if step in IDS] == IDS
    assert all(found.index(name) > found.index(f"{name} = 1") for name in IDS[1:])


def test_a_duplicated_test_counts_once_and_is_told():
    found, notes = steps(*WHOLE, WHOLE[1])
    assert found.count("stable_softmax") == 1
    assert "was there 2 times" in notes[0]


def test_of_a_duplicated_exercise_the_last_counts():
    found, notes = steps(*WHOLE, code("stable_softmax = 2", "stable_softmax"))
    assert found[-4:] == ["stable_softmax = 2", *IDS]
    assert "the last one counted" in notes[0]


@pytest.mark.parametrize(
    "more",
    [
        "# stable_softmax = 3 was an old try",
        "HALF = 0.5",
        "stable_softmax = (",  # cannot be read, and does not run
    ],
)
def test_another_cell_of_the_name_that_defines_no_answer_is_not_said_to_have_counted(more):
    _, notes = steps(*WHOLE[:2], code(more, "stable_softmax"), *WHOLE[2:])
    assert not any("times" in note for note in notes)


def test_of_three_cells_of_a_name_only_those_that_define_the_answer_are_counted():
    copies = [code("stable_softmax = 2", "stable_softmax"), code("# tried", "stable_softmax")]
    _, notes = steps(*WHOLE, *copies)
    assert "The cell of stable_softmax was there 2 times; the last one counted." in notes


def test_an_exercise_whose_cell_lost_its_name_is_found_by_its_definition():
    cells = [code("def stable_softmax(x):\n    pass"), *WHOLE[2:]]
    found, notes = steps(*cells)
    assert found[:2] == ["def stable_softmax(x):\n    pass", "stable_softmax"]
    assert any("lost its name" in note for note in notes)


def test_an_empty_notebook_still_has_every_exercise_observed():
    assert steps()[0] == IDS


def test_every_visible_and_hidden_case_is_asked():
    plan = make_plan(LESSON, read_submission(notebook(*WHOLE))[1])
    asked = {step.exercise: len(step.cases) for step in plan.steps if step.exercise}
    assert asked == {"stable_softmax": 14, "masked_mean": 13, "pairwise_dot": 9}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no notebook under"),
        (b"{", "not a notebook"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1]", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"worksheets": []}', "old format"),
        (b"[" * 100_000, "not a notebook"),
        (notebook(*[code("")] * (MOST_CELLS + 1)), "more than"),
        (b" " * (17 << 20), "larger than 16 MiB"),
        (notebook(*[code("x" * (MOST_SOURCE // 2 + 1))] * 2), "more than 256 KiB"),
    ],
    ids=[
        "empty",
        "cut",
        "utf-16",
        "list",
        "no cells",
        "format 3",
        "deep",
        "many cells",
        "large",
        "much code",
    ],
)
def test_what_is_no_notebook_gets_a_sentence(data, says):
    with pytest.raises(Malformed, match=says):
        read_submission(data)


@pytest.mark.parametrize(
    "cell",
    [
        None, 3, "cell", [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": 3},
        {"cell_type": "code", "source": [1, 2]},
        {"cell_type": "code", "source": "x", "metadata": []},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": [], "tags": 3}},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": {}}}},
    ],
)  # fmt: skip
def test_an_odd_cell_harms_no_other(cell):
    assert steps(cell, *WHOLE)[0][-6:] == steps(*WHOLE)[0]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("a = %'''", "unterminated triple-quoted string literal (detected at line 1)"),
        ("!ls\n" * 600, "grading reads no cell with as many magics, or none like this"),
        ("def f(:", "invalid syntax"),
    ],
    ids=["%", "600", ":"],
)
def test_a_cell_that_cannot_be_read_as_python_does_not_run_and_is_told(source, why):
    found, notes = steps(code(source), *WHOLE)
    assert found == steps(*WHOLE)[0]
    first = source.splitlines()[0].replace("!", "?")
    told = f"Cell 1 (`{first}`) could not be read as Python and did not run: a syntax error"
    assert notes == (f"{told} in line 1, `{first}`: {why}.",)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("def f(x: Tensor) -> dict[str, int]:", "def f(x: Tensor) -> dict[str, int]:"),
        ("x = {'a': 1} if y > 2 else z", "x = {'a': 1} if y > 2 else z"),
        ("<b>`-->![a](b)", "?b>?-->?[a](b)"),
    ],
)
def test_a_line_of_code_is_told_as_it_is_but_for_what_a_page_could_take_for_its_own(line, told):
    assert plain_code(line) == told


@pytest.mark.parametrize("deep", ["-" * 10_000 + "1", "' 1'" + ".strip()" * 20_000])
def test_a_cell_too_deep_for_the_reader_does_not_run(deep):
    assert steps(code(f"x = {deep}"), *WHOLE)[0] == steps(*WHOLE)[0]


def test_an_exercise_that_cannot_be_read_is_observed_all_the_same():
    found, _ = steps(code("def stable_softmax(:", IDS[0]), *WHOLE[1:])
    assert found[0] == "stable_softmax"


def test_magics_of_a_usual_cell_become_calls_and_too_many_for_its_length_are_left():
    assert as_python("!ls\n" * 40).strip() == "\n".join(["None"] * 40)
    long = "x = 1\n" * 3000
    assert as_python(long + "!ls\n" * 15).strip() == (long + "None\n" * 15).strip()
    assert as_python(long + "!ls\n" * 40) == long + "!ls\n" * 40


FAULTY = code("a = 'a fault'")


@pytest.mark.usefixtures("one_fork_server")
@pytest.mark.parametrize("module, part", [(reading, "make_plan"), (pipeline, "conclude")])
def test_a_failure_of_the_grader_on_one_submission_stops_no_other(monkeypatch, module, part):
    real = getattr(module, part)

    def failing(*given):
        if FAULTY["source"] in repr(given):
            raise LookupError("of ours")
        return real(*given)

    monkeypatch.setattr(module, part, failing)
    items = [Item(notebook(*WHOLE, *more), LESSON) for more in ([], [FAULTY], [])]
    with Pool(1, Limits(), isolate=False) as pool:
        graded = dict(pipeline.grade_all(items, pool))
    assert [graded[key].status for key in range(3)] == ["graded", "grader error", "graded"]
    assert graded[1].score is None
    assert graded[1].notes[0].startswith("The grader failed on this notebook: ")
    assert graded[1].notes[0].endswith("LookupError: of ours. The next run tries once more.")

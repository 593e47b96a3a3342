"""What a test cell's outputs are worth, by nbgrader's own rule, once our step has settled them."""

import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from grader.nbgrader_plugins import SettleScores

POINTS = 4


def result(text: str):
    return new_output("execute_result", data={"text/plain": text})


def stream(name: str):
    return new_output("stream", name=name, text="words")


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
VERDICT = new_output("display_data", data={"text/plain": "4 of 5 right"})


def settled(*outputs):
    nbgrader = {"grade": True, "solution": False, "grade_id": "test_f", "points": POINTS}
    cell = new_code_cell("", outputs=list(outputs), metadata={"nbgrader": nbgrader})
    return SettleScores().preprocess_cell(cell, {}, 0)[0]


@pytest.mark.parametrize("text", ["0.0", "0", "2.5", "4", "4.0"])
def test_a_number_from_0_to_the_points_is_the_score(text):
    assert determine_grade(settled(VERDICT, result(text))) == (float(text), POINTS)


@pytest.mark.parametrize(
    "text", ["-1.0", "-0.1", "nan", "inf", "4.1", "'4.0'", "None", "", "[4.0]"]
)
def test_any_other_value_earns_nothing(text):
    assert determine_grade(settled(VERDICT, result(text))) == (0, POINTS)


def test_no_value_and_two_values_earn_nothing():
    assert determine_grade(settled()) == (0, POINTS)
    assert determine_grade(settled(VERDICT)) == (0, POINTS)
    assert determine_grade(settled(result("4.0"), result("4.0"))) == (0, POINTS)


def test_an_error_earns_nothing_and_stays_to_be_read():
    cell = settled(VERDICT, ERROR)
    assert determine_grade(cell) == (0, POINTS)
    assert cell.outputs == [VERDICT, ERROR]


def test_a_value_before_an_error_earns_nothing():
    assert determine_grade(settled(result("4.0"), ERROR)) == (0, POINTS)


def test_words_on_stdout_and_stderr_cost_nothing():
    cell = settled(stream("stderr"), stream("stdout"), result("4.0"))
    assert determine_grade(cell) == (4, POINTS)
    assert [output.get("name") for output in cell.outputs] == ["stdout", None]


def test_other_cells_keep_their_outputs():
    cell = new_code_cell("", outputs=[stream("stderr")])
    assert SettleScores().preprocess_cell(cell, {}, 0)[0].outputs == [stream("stderr")]

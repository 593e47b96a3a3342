"""What a feedback page may show of a test cell and of what a student printed."""

from nbformat.v4 import new_code_cell, new_notebook, new_output

from grader.nbgrader_plugins import StripHiddenTests
from grader.nbgrader_plugins.feedback import hidden_lines, without_lines

HIDDEN = 'dict(case="seventeen", x=17)'
SOURCE = f"""check.f(f)
# BEGIN HIDDEN TESTS
check.f(f, points=2, hidden=[
    {HIDDEN},
])
# END HIDDEN TESTS"""
GRADED = {"nbgrader": {"grade": True, "solution": False, "grade_id": "test_f", "points": 2}}
COLOURED = HIDDEN.replace("case", "\x1b[38;5;28mcase\x1b[39m")


def shown(*outputs, own_outputs=()):
    """Return (the student's cell, the test cell) as a page would show them."""
    cells = [
        new_code_cell("print(1)", outputs=list(own_outputs)),
        new_code_cell(SOURCE, metadata=GRADED, outputs=list(outputs)),
    ]
    return StripHiddenTests().preprocess(new_notebook(cells=cells), {})[0].cells


def test_the_source_is_shown_without_the_hidden_tests():
    assert shown()[1].source == "check.f(f)"


def test_an_error_is_shown_without_the_lines_around_it():
    quoted = ["-" * 20, f"----> 1 check.f(f)\n      4     {COLOURED},"]
    error = new_output("error", ename="NameError", evalue="no f", traceback=quoted)
    assert shown(error)[1].outputs[0].traceback == ["NameError: no f"]


def test_a_hidden_line_is_replaced_in_every_kind_of_text():
    printed = new_output("stream", name="stdout", text=f"before\n  {HIDDEN},\nafter")
    html = new_output("display_data", data={"text/html": f"<b>{COLOURED},</b>", "image/png": "x"})
    error = new_output("error", ename="E", evalue="e", traceback=[f"4 {COLOURED},"])
    own = shown(own_outputs=[printed, html, error])[0].outputs
    assert own[0].text.startswith("before\n[not shown")
    assert own[0].text.endswith("]\nafter")
    assert "seventeen" not in str(own)
    assert own[1].data["image/png"] == "x"


def test_what_stands_in_the_visible_part_or_is_a_name_alone_is_no_secret():
    source = (
        "check.long_name(long_name)\n# BEGIN HIDDEN TESTS\ncheck.long_name(\n    long_name,\n"
        f"    hidden=[\n        {HIDDEN},\n    ],\n)\n# END HIDDEN TESTS"
    )
    assert hidden_lines(source) - {"# BEGIN HIDDEN TESTS"} == {f"{HIDDEN},"}
    told = "Cell 3 (long_name, `check.long_name(long_name)`) still holds the stub."
    assert without_lines(told, hidden_lines(source)) == told


def test_a_verdict_is_shown_as_it_is():
    verdict = new_output("display_data", data={"text/plain": "f: 1 of 2 right"})
    assert shown(verdict)[1].outputs == [verdict]


def test_markers_that_a_student_wrote_do_not_stop_the_page():
    cell = new_code_cell("# BEGIN HIDDEN TESTS\n# BEGIN SOLUTION")
    (kept,) = StripHiddenTests().preprocess(new_notebook(cells=[cell]), {})[0].cells
    assert kept.source == "# BEGIN HIDDEN TESTS\n# BEGIN SOLUTION"

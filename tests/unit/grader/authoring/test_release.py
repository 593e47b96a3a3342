import json
import os
import subprocess
import sys

import pytest

from grader.authoring import lessons, stubbed
from grader.authoring.files import write_if_changed
from grader.authoring.notebook import as_text, source_notebook
from grader.authoring.regions import RegionError, without_hidden
from grader.authoring.release import course_config, released
from tests.unit.course_files import ROOT

SECRETS = ["secret_answer", "19 + 22", "SOLUTION", "STUB", "HIDDEN", "seventeen", "want"]


def test_a_region_becomes_an_error_that_names_the_exercise():
    source = 'def f(x):\n    """Doc."""\n    # BEGIN SOLUTION\n    return x\n    # END SOLUTION'
    assert stubbed(source, "f") == (
        'def f(x):\n    """Doc."""\n    raise NotImplementedError("f is not written yet")'
    )


def test_what_follows_stub_is_shown_at_its_indentation():
    source = (
        "class F:\n"
        "    def f(self, x):\n"
        "        # BEGIN SOLUTION\n"
        "        return x\n"
        "        # STUB\n"
        "        # if x:\n"
        "        #     return -x\n"
        "        # # no comment is lost\n"
        "        #\n"
        "        # END SOLUTION\n"
        "    y = 1"
    )
    assert stubbed(source, "F") == (
        "class F:\n"
        "    def f(self, x):\n"
        "        if x:\n"
        "            return -x\n"
        "        # no comment is lost\n"
        "\n"
        "    y = 1"
    )


def test_each_region_of_a_class_gets_its_own_stub():
    region = "        # BEGIN SOLUTION\n        pass\n        # END SOLUTION\n"
    stub = stubbed(f"class F:\n    def a(self):\n{region}    def b(self):\n{region}", "F")
    assert stub.count('        raise NotImplementedError("F is not written yet")') == 2


def test_an_open_region_is_refused_and_never_shown():
    with pytest.raises(RegionError) as caught:
        stubbed("x = 1\n# BEGIN SOLUTION\ny = 2", "y")
    assert caught.value.offset == 1
    with pytest.raises(RegionError):
        without_hidden("a\n# END HIDDEN TESTS")


def test_a_hidden_region_is_removed_with_its_markers():
    source = "a\n# BEGIN HIDDEN TESTS\nb\n# END HIDDEN TESTS\nc"
    assert without_hidden(source) == "a\nc"


def test_a_release_holds_no_answer_and_no_hidden_test(course):
    (lesson,) = lessons(course)
    text = released(lesson, course)
    assert [secret for secret in SECRETS if secret in text] == []
    assert all(secret in as_text(source_notebook(lesson)) for secret in SECRETS)


def test_a_release_locks_its_test_cells_and_sums_up_what_it_expects(course):
    notebook = json.loads(released(lessons(course)[0], course))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    assert cells["test_double"]["metadata"]["editable"] is False
    assert cells["double"]["metadata"]["deletable"] is False
    assert "editable" not in cells["double"]["metadata"]
    assert len(cells["test_double"]["metadata"]["nbgrader"]["checksum"]) == 32
    assert "".join(cells["predict_sum"]["source"]).endswith("\npredict_sum = None")


def test_a_release_touches_nothing_else(course):
    course_config(course, course)  # nbgrader's settings make the exchange
    before = sorted(course.rglob("*"))
    released(lessons(course)[0], course)
    assert sorted(course.rglob("*")) == before


def test_nbgraders_own_program_makes_the_same_bytes(course):
    (lesson,) = lessons(course)
    write_if_changed(lesson.solution_path, as_text(source_notebook(lesson)))
    result = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", lesson.name, "--force"],
        cwd=course,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert lesson.release_path.read_bytes() == released(lesson, course).encode()

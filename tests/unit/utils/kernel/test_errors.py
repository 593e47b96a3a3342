"""What a cell shows that stops: one box where something is missing, and no frames of the course."""

import json
import re
from pathlib import Path

import pytest

from tests.unit.utils.kernel.kernel import SET_UP, Kernel, Shown, running_kernel

STUB = 'def {0}(*_):\n    raise NotImplementedError("{0} is not written yet")'
NEEDS = 'This experiment needs `attend`: write it above, or `lend("attend")`.'


@pytest.fixture
def kernel(kernel: Kernel) -> Kernel:
    kernel.forget("attend", "causal_mask", "predict_score_spread", "made", "seen", "fill", "later")
    return kernel


def only(shown: Shown) -> str:
    """What a cell's one box says, which is all that it shows."""
    assert not shown.errors
    assert len(shown.texts) == 1
    return shown.texts[0]


def test_an_experiment_with_an_unwritten_function_says_which_and_stops_no_other_cell(
    kernel: Kernel,
) -> None:
    kernel.run(STUB.format("attend"))
    shown = kernel.run("made = attend(1)")
    assert only(shown) == NEEDS
    assert shown.status == "ok"


def test_all_unwritten_functions_of_an_experiment_are_named_at_once(kernel: Kernel) -> None:
    kernel.run(STUB.format("attend"))
    kernel.run(STUB.format("causal_mask"))
    said = only(kernel.run("def made():\n    return causal_mask(attend(1))\nmade()"))
    assert "`attend` and `causal_mask`: write them above" in said


def test_a_stub_without_words_is_known_by_its_function(kernel: Kernel) -> None:
    kernel.run("def attend():\n    raise NotImplementedError")
    assert only(kernel.run("attend()")) == NEEDS


def test_what_cannot_be_lent_is_not_offered(kernel: Kernel) -> None:
    kernel.run(STUB.format("test_attention"))
    said = only(kernel.run("test_attention(1)"))
    assert said == "This experiment needs `test_attention`: write it above."


@pytest.mark.parametrize(
    "line", ["from utils.progress.guesses import guess, said", "import utils.plots.gone"]
)
def test_a_copy_that_takes_what_the_course_no_longer_has_is_told_how_to_get_the_new_one(
    kernel: Kernel, line: str
) -> None:
    said = only(kernel.run(line))
    assert said.endswith("`make lab`, and copy your answers over.")
    assert re.match(r"(Cannot import name 'said' from|No module named) 'utils[\w.]+'\. If", said)
    assert kernel.run("import no_such_module").errors


CONSEQUENCES = [
    ("made = attend(1)", "print(made)"),
    ("made = {}\nmade['a'] = attend(1)", "made['a']"),
    ("made = []\nmade.append(attend(1))", "made[0]"),
    ("made = []\nmade += [attend(1)]", "max(made)"),
    ("made = {}\ndef fill():\n    made[1] = attend(1)\nfill()", "sum(made[1])"),
    ("made = [0]\nfor _ in range(3):\n    made.append(attend(1))", "torch.zeros(4)[:, made]"),
    ("class Box: pass\nmade = Box()\nmade.whole = attend(1)", "made.whole"),
]


@pytest.mark.parametrize(("first", "second"), CONSEQUENCES)
def test_what_an_unwritten_function_leaves_out_is_one_box_in_later_cells(
    kernel: Kernel, first: str, second: str
) -> None:
    kernel.run(STUB.format("attend"))
    kernel.run(first)
    shown = kernel.run(second)
    assert only(shown) == NEEDS
    assert shown.status == "ok"
    assert only(kernel.run(f"later = 1\n{second}")) == NEEDS


@pytest.mark.parametrize(("first", "second"), CONSEQUENCES)
def test_once_it_is_written_the_cell_in_between_is_to_be_run_again(
    kernel: Kernel, first: str, second: str
) -> None:
    kernel.run(STUB.format("attend"))
    kernel.run(first)
    kernel.run("def attend(x):\n    return torch.ones(2)")
    shown = kernel.run(second)
    named = f"the cell `{first.splitlines()[0]}`"
    assert f"from {named}. Run that one again, now that `attend` is written." in only(shown)
    assert shown.status == "error"


def test_a_function_that_a_stopped_cell_has_made_is_not_to_blame(kernel: Kernel) -> None:
    kernel.run(STUB.format("attend"))
    kernel.run("def fill(x):\n    return len(x)\nattend(1)")
    assert "TypeError" in kernel.run("fill(1)").errors[0]


def test_a_cell_that_stopped_otherwise_is_named(kernel: Kernel) -> None:
    kernel.run("1 / 0\nmade = 1")
    shown = kernel.run("print(made)")
    assert only(shown) == (
        "This cell needs `made` from the cell `1 / 0`, which stopped with a ZeroDivisionError in "
        "line 1. Mend that one first."
    )
    assert shown.status == "error"


@pytest.mark.parametrize("code", ["missspelt", "made = {}\nmade[1]", "int('a')", "torch.oops"])
def test_a_students_own_error_is_shown_as_python_does(kernel: Kernel, code: str) -> None:
    shown = kernel.run(code)
    assert "Traceback" in shown.errors[0] or "line" in shown.errors[0]
    assert shown.texts == []
    assert kernel.run(code).errors


def test_an_error_in_an_answer_is_shown_as_python_does(kernel: Kernel) -> None:
    kernel.run(STUB.format("causal_mask"))
    kernel.run("seen = {}\nseen[1] = causal_mask(1)")
    kernel.run("def attend():\n    return {}[1]")
    assert "KeyError" in kernel.run("seen\nattend()").errors[0]


@pytest.mark.parametrize(
    "code",
    [
        "check.stable_sofmax(1)",
        "check.stable_softmax(1, 2)",
        "from utils import plots\nplots.show(None)",
        "from utils.notebook.carry import carry\ncarry('01', 'nothing')",
        "from utils.experiments.train import train\n"
        "train(torch.nn.Linear(1, 1), lambda _: 1 / 0, steps=1)",
        "from utils.experiments.train import train\n"
        "try:\n    train(torch.nn.Linear(1, 1), lambda _: 1 / 0, steps=1)\n"
        "except ZeroDivisionError as error:\n    raise ValueError('again') from error",
    ],
)
def test_no_traceback_holds_the_courses_own_frames(kernel: Kernel, code: str) -> None:
    shown = kernel.run(code)
    assert len(shown.errors) == 1
    assert "utils/" not in shown.errors[0]
    assert shown.status == "error"


MODEL = """
def scores(x):
    return x @ torch.ones(3)


class Model(torch.nn.Module):
    def forward(self, x):
        return scores(x)


"""


@pytest.mark.parametrize(
    ("code", "shows"),
    [
        (f"{MODEL}torch.nn.Sequential(Model(), Model())(torch.ones(2))", "Sequential"),
        (f"{MODEL}list(torch.utils.data.DataLoader([torch.ones(2)], collate_fn=Model()))", "list"),
        ("torch.nn.Linear(3, 1)(torch.ones(2))", "linear.py"),
    ],
)
def test_what_only_leads_from_the_students_code_to_where_it_fails_is_left_out(
    kernel: Kernel, code: str, shows: str
) -> None:
    kernel.run("import torch")
    (coloured,) = kernel.run(code).errors
    shown = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert "_call_impl" not in shown
    assert "_next_data" not in shown
    assert "container.py" not in shown
    assert shows in shown
    assert ("return x @ torch.ones(3)" in shown) == (MODEL in code)


def test_a_check_without_an_answer_says_what_it_needs(kernel: Kernel) -> None:
    said = only(kernel.run("check.stable_softmax()"))
    assert said == "Give the check your answer: `check.stable_softmax(stable_softmax)`."


@pytest.mark.parametrize("code", ["def f(:", "  x = 1\n y = 2", "exec('1 +')", "x = '"])
def test_a_syntax_error_is_shown_as_ever(kernel: Kernel, code: str) -> None:
    assert "Error" in kernel.run(code).errors[0]


def test_an_interrupted_cell_says_where_it_was(kernel: Kernel) -> None:
    shown = kernel.interrupted("import time\nprint('now')\ntime.sleep(600)", "now")
    assert shown.errors == []
    assert "You stopped this cell after" in shown.texts[-1]
    assert shown.texts[-1].endswith("in line 3: `time.sleep(600)`.")
    assert shown.status == "error"


CELLS = [
    ("markdown", "# 02\n## 1. A first section"),
    ("code", SET_UP),
    ("markdown", "## 2. `Exam` and table"),
    ("code", "# The exam's table\nTABLE = {}\ndef exam():\n    return TABLE[1]"),
    ("code", "TABLE[1] = 5"),
    ("code", "print(exam())"),
]


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lesson's folder with a notebook of its own."""
    folder = tmp_path_factory.mktemp("lesson") / "02_attention"
    folder.mkdir()
    cells = [
        {"cell_type": kind, "id": f"cell-{number}", "source": text, "metadata": {}}
        for number, (kind, text) in enumerate(CELLS)
    ]
    (folder / "02_attention.ipynb").write_text(json.dumps({"cells": cells}))
    return folder


def test_a_missing_name_says_which_cell_has_not_run(lesson: Path) -> None:
    with running_kernel(lesson) as kernel:
        kernel.run(SET_UP, "cell-1")
        said = only(kernel.run(CELLS[5][1], "cell-5"))
        assert said == (
            "This cell needs `exam`, which the cell “The exam's table” under “2. Exam and table” "
            "makes. Run that cell first."
        )
        kernel.run(CELLS[3][1], "cell-3")
        said = only(kernel.run(CELLS[5][1], "cell-5"))
        assert "This cell needs `TABLE` as the cell `TABLE[1] = 5`" in said
        assert "It stopped with KeyError: 1" in said
        kernel.run(CELLS[4][1], "cell-4")
        assert kernel.run(CELLS[5][1], "cell-5").text == "5\n"

"""From one lesson to a later one: the student's own class where it is right, else the course's."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.authoring.notebook import source_notebook
from grader.course import nbgrader_autograde
from grader.course.course import GradingCourse
from grader.judging.pipeline import grade_submission
from tests.course.forked_tries import run_in_fork
from tests.course.lesson_runs import ROOT, all_lessons, names_of
from tests.course.other_hands import PREAMBLE, forms
from utils.kernel import runs
from utils.notebook import carry
from utils.reference import modules

LATER, LAST, ENCORE = "05_encoder", "06_training", "07_pretrained_encoder"
CARRIED = {
    "MultiHeadAttention": "03_multi_head_attention",
    "PositionalEncoding": "04_positional_encoding",
    "TokenEmbedding": "04_positional_encoding",
}


@pytest.fixture
def learn(tmp_path, monkeypatch):
    """A learner's folder, inside lesson 05, with every lesson as it is handed out."""
    for name in all_lessons():
        shutil.copytree(ROOT / "notebooks" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path / LATER)
    for variable in (*runs.GRADING, carry.DEPTH):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def in_forks(monkeypatch):
    monkeypatch.setattr(carry, "_run_child", run_in_fork)


def finish(learn: Path, *names: str) -> None:
    for name in names:
        shutil.copy(ROOT / "solutions" / name / f"{name}.ipynb", learn / name)


def lines_of_carry(text: str) -> dict[str, str]:
    """What was said about each block."""
    lines = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {name: rest for name, rest in lines if name in CARRIED}


@pytest.mark.usefixtures("in_forks")
def test_finished_lessons_are_carried_into_an_encoder_that_equals_torchs(learn, capsys):
    finish(learn, "02_attention", *set(CARRIED.values()))
    lesson = names_of(all_lessons()[LATER])
    assert lines_of_carry(capsys.readouterr().out) == {
        name: f"your own, from ../{source}/{source}.ipynb" for name, source in CARRIED.items()
    }
    for name, source in CARRIED.items():
        assert lesson[name].__module__ == f"carried_{source}_{name}"
    encoder = lesson["TransformerEncoder"](9, 12, 3, 2, 20, dropout=0.0)
    assert isinstance(encoder.layers[1].self_attention, lesson["MultiHeadAttention"])
    layer = nn.TransformerEncoderLayer(12, 3, 20, 0.0, batch_first=True)
    theirs = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    lesson["load_torch_encoder"](encoder, theirs)
    x = torch.randn(2, 5, 12)
    torch.testing.assert_close(encoder.encode(x), theirs(x), rtol=1e-5, atol=1e-5)


def right_answers() -> dict[str, list[str]]:
    """Right answers by other hands: exercise -> cells, each with the imports that it needs."""
    found: dict[str, list[str]] = {}
    for form in forms():
        if form.is_right and not form.demands:
            found.setdefault(form.exercise, []).append(PREAMBLE + form.source)
    return found


def hand_in(learn: Path, answers: dict[str, str]) -> None:
    for name, lesson in all_lessons().items():
        notebook = source_notebook(lesson)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        (learn / name / f"{name}.ipynb").write_text(json.dumps(notebook))


@pytest.mark.parametrize("number", ["the solutions", 0, 1, 2])
def test_right_answers_of_every_lesson_reach_the_last_one_as_ones_own_encoder(
    learn, capsys, monkeypatch, number
):
    others = right_answers() if isinstance(number, int) else {}
    if others:  # the solutions are tried in processes of their own, as a learner's are
        monkeypatch.setattr(carry, "_run_child", run_in_fork)
    hand_in(learn, {exercise: of[number % len(of)] for exercise, of in others.items()})
    monkeypatch.chdir(learn / LAST)
    encoder = carry.carry(LATER, "TransformerEncoder")
    assert capsys.readouterr().out.rpartition("\r")[2] == (
        f"TransformerEncoder: your own, from ../{LATER}/{LATER}.ipynb\n"
    )
    made = encoder(9, 12, 3, 2, 20, dropout=0.0)
    for name in CARRIED:
        assert any(type(part).__module__.endswith(name) for part in made.modules()), name
    assert made(torch.tensor([[3, 1, 0]])).shape == (1, 3, 12)
    monkeypatch.chdir(learn / ENCORE)
    monkeypatch.setenv("COURSE_MODEL", "tiny")
    types = {"F32": torch.float32, "I64": torch.int64}  # stand in the cell, above the answer
    names = {"__name__": "__main__", "DTYPES": types}
    for cell in json.loads((learn / ENCORE / f"{ENCORE}.ipynb").read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not source.startswith("check."):
            exec(source, names)  # down to the comparison with torch's layers
        if "torch_states(tensors" in source:
            break
    said = capsys.readouterr().out
    keeps_old_parts = "goes on with old parts after new ones took their places" in said
    assert ("TransformerEncoder: your own" in said) != keeps_old_parts, said
    assert not (keeps_old_parts and number == "the solutions")
    assert max(names["differences"]) < 1e-4


@pytest.mark.usefixtures("in_forks")
def test_a_wrong_block_in_an_earlier_lesson_is_replaced_there_and_named(learn, capsys, monkeypatch):
    wrong = "class LayerNorm(nn.LayerNorm):\n    def forward(self, x):\n        return x"
    hand_in(learn, {"LayerNorm": wrong})
    monkeypatch.chdir(learn / LAST)
    assert carry.carry(LATER, "TransformerEncoder") is modules.TransformerEncoder
    assert "is right, but uses LayerNorm: not right yet" in capsys.readouterr().out


@pytest.mark.usefixtures("in_forks")
def test_unfinished_lessons_give_way_to_the_stand_ins(learn, capsys):
    lesson = names_of(all_lessons()[LATER])
    said = lines_of_carry(capsys.readouterr().out)
    for name, source in CARRIED.items():
        assert lesson[name] is getattr(modules, name)
        wanted = f"the course's stand-in (yours, in ../{source}/{source}.ipynb, is not written yet)"
        assert said[name] == wanted
    assert lesson["TransformerEncoder"](9, 12, 3, 2, 20)(torch.tensor([[3, 1]])).shape == (1, 2, 12)


def test_nbgraders_own_autograde_uses_the_stand_ins_whatever_lies_beside(tmp_path):
    course = GradingCourse(ROOT, tmp_path)
    for step, name in (("submitted", LATER), *(("autograded", n) for n in CARRIED.values())):
        folder = tmp_path / step / "ada" / name
        folder.mkdir(parents=True, exist_ok=True)
        notebook = json.dumps(source_notebook(all_lessons()[name]))
        (folder / f"{name}.ipynb").write_text(notebook)
    course.record(all_lessons()[LATER])
    assert nbgrader_autograde.autograde(course, [("ada", LATER)]) == []
    graded = json.loads((tmp_path / "autograded" / "ada" / LATER / f"{LATER}.ipynb").read_text())
    printed = [
        "".join(output["text"])
        for cell in graded["cells"]
        for output in cell.get("outputs", [])
        if output["output_type"] == "stream"
    ]
    stand_in = "the course's stand-in (as always while grading)"
    assert lines_of_carry("".join(printed)) == dict.fromkeys(CARRIED, stand_in)


@pytest.mark.usefixtures("one_fork_server")
def test_the_fast_engine_tells_the_lesson_that_it_is_graded():
    notebook = source_notebook(all_lessons()[LATER])
    cell = next(cell for cell in notebook.cells if cell.id == "LayerNorm")
    cell.source = "import os\nassert os.environ['COURSE_GRADING']\n" + cell.source
    data = json.dumps(notebook).encode()
    outcome = grade_submission(data, all_lessons()[LATER], isolate=False)
    assert outcome.score == all_lessons()[LATER].points

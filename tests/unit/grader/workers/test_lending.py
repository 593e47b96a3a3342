"""What is lent to the isolated process, and what it costs to have borrowed it."""

import ast
import importlib
import json
import sys

import pytest

from grader.workers import lending
from grader.workers.lending import FOLDER, PACKAGE, ROOMS, Borrower, answers_in, lend, lent_to
from grader.workers.trials import TRIAL_RUNS, Server, runs_of
from tests.course.lesson_runs import all_lessons
from utils import reference
from utils.checks.registry import probes
from utils.reference import BLOCKS, HOMES, modules


def step(exercise: str, source: str = "") -> dict:
    return {"exercise": exercise, "source": source, "cases": 1}


def about(exercise: str) -> bytes:
    return json.dumps({"exercise": exercise, "case": 0}).encode()


def module_of(path: str) -> str:
    """Of `utils.reference.attention.heads.reference_split`, `attention.heads`."""
    return path.removeprefix(PACKAGE).rpartition(".")[0]


STEPS = [step("scaled_dot_product_attention"), step("causal_mask"), step("SelfAttention")]
ASKS = b'{"lend": "utils.reference.attention.plain"}'
ALL = HOMES.values()


def test_a_lent_module_runs_in_the_borrowers_process(monkeypatch):
    asked = []
    borrower = Borrower(lambda raw: asked.append(raw) or lend(raw, ALL)[0])
    spec = borrower.find_spec("utils.reference.attention.masks")
    module = type(sys)("borrowed")
    module.__name__ = spec.name
    borrower.exec_module(module)
    assert module.causal_mask(3).shape == (1, 3, 3)
    assert asked == [b'{"lend": "utils.reference.attention.masks"}']


def test_packages_of_stand_ins_are_made_by_the_borrower_and_hold_no_code(monkeypatch):
    assert {f"{PACKAGE}{name}" for name in ("attention", "positions", "encoder")} == ROOMS
    for name in ROOMS:
        package = FOLDER.joinpath(name.removeprefix(PACKAGE), "__init__.py")
        assert isinstance(ast.parse(package.read_text()).body[0], ast.Expr)
        assert len(ast.parse(package.read_text()).body) == 1
        room = name.removeprefix(PACKAGE)
        monkeypatch.setattr(reference, room, getattr(reference, room))  # put back at the end
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    asked = []
    borrower = Borrower(lambda raw: asked.append(raw) or lend(raw, ALL)[0])
    monkeypatch.setattr(sys, "meta_path", [borrower, *sys.meta_path])
    module = importlib.import_module("utils.reference.positions.layer")
    assert module.PositionalEncoding(4, max_len=3).pe.shape == (3, 4)
    assert [json.loads(raw)["lend"] for raw in asked] == [
        "utils.reference.positions.layer", "utils.reference.positions.sinusoids",
    ]  # fmt: skip


def test_other_modules_are_left_to_other_finders():
    assert Borrower(lambda _: b"{}").find_spec("utils.plots") is None


@pytest.mark.parametrize(
    "name",
    [
        "attention.torch_attention",
        "attention.torch_heads",
        "modules",
        "masks",
        "../checks/api",
        "",
        3,
    ],
)
def test_what_is_no_stand_in_is_not_lent(name):
    raw = json.dumps({"lend": f"utils.reference.{name}"}).encode()
    assert lend(raw, ALL) == (b"{}", frozenset())
    with pytest.raises(ModuleNotFoundError, match="not here while grading"):
        Borrower(lambda _: b"{}").find_spec(f"utils.reference.{name}")


@pytest.mark.parametrize("raw", [b'{"lend"', b'{"lend": {"a": 1}}', b'{"lend":' + b"[" * 100_000])
def test_a_request_that_cannot_be_read_is_answered_with_nothing(raw):
    assert lend(raw, ALL) == (b"{}", frozenset())


def test_a_module_answers_what_its_parts_and_what_it_imports_answer_too():
    assert answers_in("encoder.layer") == {
        "EncoderLayer", "LayerNorm", "FeedForward", "MultiHeadAttention", "split_heads",
        "merge_heads", "repaired_split_heads", "SelfAttention", "scaled_dot_product_attention",
        "attend",
    }  # fmt: skip


def test_what_no_work_of_a_lesson_asks_for_is_not_lent_to_it():
    helpers = {"recurrent_cell", "recurrence", "attention.heads", "tagging", "encoder.bert"}
    of_blocks = {HOMES[block] for block in BLOCKS}
    assert helpers | of_blocks == set(HOMES.values())
    lent = {
        lesson.name: lent_to(frozenset(e.id for e in lesson.exercises)) - of_blocks
        for lesson in all_lessons().values()
    }
    assert {name: modules for name, modules in lent.items() if modules} == {
        "01_rnn_limits": {"recurrent_cell", "recurrence"},
        "03_multi_head_attention": {"attention.heads"},
        "06_training": {"tagging"},
        "07_pretrained_encoder": {"encoder.bert"},
    }


def test_what_a_lent_module_imports_is_lent_with_it():
    assert lent_to(frozenset({"gradient_through_time"})) >= {"recurrence", "recurrent_cell"}
    server = Server([step("padding_mask")])
    assert server.reply(b'{"lend": "utils.reference.tagging"}') == b"{}"


@pytest.mark.parametrize("lesson", all_lessons().values(), ids=lambda lesson: lesson.name)
def test_what_stands_in_for_earlier_exercises_answers_no_later_one(lesson):
    answered: set[str] = set()
    for exercise in lesson.exercises:
        homes = {module_of(path) for path in probes()[exercise.id].stand_ins.values()}
        answered = answered.union(*map(answers_in, homes))
        assert exercise.id not in answered


def test_a_message_before_the_loan_counts_and_one_after_it_does_not():
    server = Server(STEPS)
    early, late = about("scaled_dot_product_attention"), about("scaled_dot_product_attention")
    assert server.reply(early) is None
    assert b"code" in server.reply(ASKS)
    server.reply(late)
    server.reply(about("causal_mask"))
    assert server.rest == [early, about("causal_mask")]


def test_a_students_test_is_tried_last_and_in_two_processes():
    steps = [step("test_attention"), step("SelfAttention")]
    observed = [[s["exercise"] for s in Server(steps, run).steps] for run in range(2)]
    assert observed == [["SelfAttention", "test_attention"], ["test_attention"]]
    assert runs_of(steps) == TRIAL_RUNS == 2


def test_a_students_test_that_keeps_nothing_is_tried_in_one_process():
    steps = [step("LayerNorm"), step("test_padding") | {"again": False}, step("EncoderLayer")]
    observed = [s["exercise"] for s in Server(steps).steps]
    assert observed == ["LayerNorm", "EncoderLayer", "test_padding"]
    assert runs_of(steps) == 1


def test_every_block_has_a_home_and_every_stand_in_comes_from_one():
    assert sorted(modules.__all__) == sorted(BLOCKS)
    assert set(BLOCKS) <= set(HOMES)
    for probe in probes().values():
        for path in probe.stand_ins.values():
            assert module_of(path) in HOMES.values(), path


def test_no_stand_in_is_an_answer_to_the_exercise_that_borrows_it():
    for probe in probes().values():
        for path in probe.stand_ins.values():
            assert probe.exercise not in answers_in(module_of(path)), probe.exercise


def test_a_module_that_is_asked_for_again_and_again_is_made_ready_once(monkeypatch):
    lending._lent.cache_clear()
    made = []
    usual = lending._code
    monkeypatch.setattr(lending, "_code", lambda module: made.append(module) or usual(module))
    replies = {lend(ASKS, ALL) for _ in range(5)}
    assert len(replies) == 1
    assert made.count("attention.plain") <= 2  # for itself, and for what it imports

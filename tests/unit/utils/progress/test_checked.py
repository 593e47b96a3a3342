"""Which checks are put on record, in a shell as a notebook's kernel has it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from utils.checks import check
from utils.kernel.runs import watch
from utils.progress import checked
from utils.progress.record import Record, checksum, read

LESSON = "03_lesson"
EXERCISE = "predict_sum_check"
CELL = f"{EXERCISE} = 42  # mine"
Check = Callable[..., Record | None]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    """A shell of this test only; others would see it as a running notebook."""
    made = InteractiveShell(config=Config(HistoryManager={"hist_file": ":memory:"}))
    monkeypatch.setattr(InteractiveShell, "initialized", lambda: True)
    monkeypatch.setattr(InteractiveShell, "instance", lambda: made)
    watch()
    return made


@pytest.fixture
def learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder, with one lesson's folder as the working one."""
    (tmp_path / LESSON).mkdir()
    monkeypatch.setattr(checked, "LEARN", tmp_path.resolve())
    monkeypatch.chdir(tmp_path / LESSON)
    return tmp_path


@pytest.fixture
def run(shell: InteractiveShell, learn: Path) -> Check:
    """Run a cell that gives an answer, check it, and return what is then on record."""

    def run(cell: str = CELL, *, passed: bool = True, started: bool = True) -> Record | None:
        shell.run_cell(cell, store_history=True)
        answer = shell.user_ns[EXERCISE]
        checked.record_check(EXERCISE, answer, passed=passed, started=started)
        return read(learn, LESSON, EXERCISE)

    return run


def test_a_passed_check_is_recorded_with_the_cell_that_gave_the_answer(run: Check) -> None:
    record = run()
    assert record is not None
    assert (record.passed, record.started, record.cell) == (True, True, checksum(CELL))
    assert record.last_passed == record.checked


def test_a_later_failure_keeps_when_it_passed(run: Check) -> None:
    passed, failed = run(), run(f"{EXERCISE} = 43", passed=False)
    assert passed is not None and failed is not None
    assert not failed.passed
    assert failed.last_passed == passed.last_passed
    assert failed.cell == checksum(f"{EXERCISE} = 43")


@pytest.mark.parametrize(
    "cell",
    [
        f"def {EXERCISE}(x):\n    return x",
        f"class {EXERCISE}(list):\n    pass",
        f"import math\n\n{EXERCISE}: float = math.pi",
        f"%pwd\n{EXERCISE}=1",
    ],
)
def test_the_defining_cell_is_found_in_every_form(run: Check, cell: str) -> None:
    record = run(cell)
    assert record is not None and record.cell == checksum(cell)


def test_cells_that_only_use_the_name_are_not_the_defining_one(
    run: Check, shell: InteractiveShell
) -> None:
    shell.run_cell(CELL, store_history=True)
    shell.run_cell(f"{EXERCISE} == 42", store_history=True)
    shell.run_cell(f"other = {EXERCISE} + 1", store_history=True)
    record = run(f"other_{EXERCISE} = 1")
    assert record is not None and record.cell == checksum(CELL)


def test_another_object_than_the_notebooks_own_is_not_recorded(
    shell: InteractiveShell, learn: Path
) -> None:
    shell.run_cell(f"{EXERCISE} = [1]", store_history=True)
    checked.record_check(EXERCISE, [1], passed=True, started=True)
    assert read(learn, LESSON, EXERCISE) is None


def test_outside_the_learners_folder_nothing_is_recorded(
    run: Check, learn: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("solutions") / LESSON
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run() is None
    assert list(elsewhere.parent.rglob("*.json")) == []


def test_outside_a_notebook_nothing_is_recorded(learn: Path) -> None:
    checked.record_check(EXERCISE, 42, passed=True, started=True)
    assert read(learn, LESSON, EXERCISE) is None


def test_where_nothing_can_be_written_the_check_goes_on(run: Check, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(checked, "write", refuse)
    assert run() is None


def test_a_visible_check_of_the_course_is_recorded(
    shell: InteractiveShell, learn: Path, monkeypatch
) -> None:
    monkeypatch.setattr("utils.checks.api.show", lambda _verdict: None)
    shell.run_cell("import torch\ndef stable_softmax(x, dim=-1):\n    return x", store_history=True)
    check.stable_softmax(shell.user_ns["stable_softmax"])
    record = read(learn, LESSON, "stable_softmax")
    assert record is not None and (record.passed, record.started) == (False, True)
    shell.run_cell("def stable_softmax(x, dim=-1):\n    raise NotImplementedError")
    check.stable_softmax(shell.user_ns["stable_softmax"])
    record = read(learn, LESSON, "stable_softmax")
    assert record is not None and (record.passed, record.started) == (False, False)


def test_an_earlier_version_that_passes_is_not_recorded_as_passed(
    shell: InteractiveShell, learn: Path, monkeypatch
) -> None:
    monkeypatch.setattr("utils.checks.api.show", lambda _verdict: None)
    right = "import torch\ndef stable_softmax(x, dim=-1):\n    x = x - x.amax(dim, keepdim=True)"
    right += ".clamp(min=torch.finfo(x.dtype).min)\n    total = x.exp().sum(dim, keepdim=True)\n"
    right += "    return x.exp() / total.masked_fill(total == 0, 1.0)"
    shell.run_cell(right, store_history=True)
    check.stable_softmax(shell.user_ns["stable_softmax"])
    passed = read(learn, LESSON, "stable_softmax")
    assert passed is not None and passed.passed
    shell.run_cell(f"{right} (", store_history=True)
    check.stable_softmax(shell.user_ns["stable_softmax"])
    after = read(learn, LESSON, "stable_softmax")
    assert after is not None and (after.passed, after.started) == (False, True)
    assert after.last_passed == passed.last_passed


def test_a_first_try_with_a_syntax_error_is_recorded_as_begun(
    shell: InteractiveShell, learn: Path, monkeypatch
) -> None:
    monkeypatch.setattr("utils.checks.api.show", lambda _verdict: None)
    shell.run_cell("def stable_softmax(x, dim=-1):\n    raise NotImplementedError")
    shell.run_cell("def stable_softmax(x, dim=-1):\n    return x +")
    check.stable_softmax(shell.user_ns["stable_softmax"])
    record = read(learn, LESSON, "stable_softmax")
    assert record is not None and (record.passed, record.started) == (False, True)


def test_an_answer_that_is_checked_in_its_own_cell_is_recorded_with_that_cell(
    shell: InteractiveShell, learn: Path
) -> None:
    shell.run_cell(f"{EXERCISE} = 1", store_history=True)
    cell = (
        f"{EXERCISE} = 42\nfrom utils.progress import checked\n"
        f"checked.record_check({EXERCISE!r}, {EXERCISE}, passed=True, started=True)"
    )
    shell.run_cell(cell, store_history=True)
    record = read(learn, LESSON, EXERCISE)
    assert record is not None and record.cell == checksum(cell)

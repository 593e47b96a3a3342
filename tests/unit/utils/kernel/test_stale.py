"""A check counts only what the student's cell still says, in a real kernel."""

import pytest

from tests.unit.utils.kernel.kernel import Kernel

NAME = "stable_softmax"
RIGHT = (
    "def stable_softmax(x, dim=-1):\n"
    "    highest = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)\n"
    "    powers = (x - highest).exp()\n"
    "    total = powers.sum(dim, keepdim=True)\n"
    "    return powers / total.masked_fill(total == 0, 1.0)\n"
)
STUB = f'def {NAME}(x, dim=-1):\n    raise NotImplementedError("{NAME} is not written yet")\n'
BROKEN = RIGHT.replace("amax(dim,", "amax(dim,, ")
CHECK = f"check.{NAME}({NAME})"
PASSES, AMBER = f"✓ {NAME}: all 8 cases pass", f"! {NAME}: does not count"


@pytest.fixture(params=["with ids", "without ids"])
def cell(request) -> str:
    """The id of the exercise's cell, which not every front end says."""
    return NAME if request.param == "with ids" else ""


def test_a_right_answer_counts(kernel: Kernel, cell: str) -> None:
    kernel.run(RIGHT, cell)
    assert kernel.run(CHECK).text.startswith(PASSES)


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (BROKEN, "stopped with a SyntaxError in line 2."),
        (f"\n\n{BROKEN}", "stopped with a SyntaxError in line 4."),
        (RIGHT.replace("    powers", "  powers", 1), "stopped with an IndentationError in line 3."),
        (f"%%time\n{BROKEN}", "stopped with a SyntaxError in line 3."),
        (f"oops\n{RIGHT}", "stopped with a NameError in line 1."),
        (f"1 / 0\n{RIGHT}", "stopped with a ZeroDivisionError in line 1."),
        (f"@torch.oops\n{RIGHT}", "stopped with an AttributeError in line 1."),
        (RIGHT.replace(NAME, "stabel_softmax"), f"makes `stabel_softmax`, not `{NAME}`."),
        (f"{NAME} = torch.oops", "stopped with an AttributeError in line 1."),
    ],
)
def test_an_answer_whose_cell_no_longer_makes_it_does_not_count(
    kernel: Kernel, cell: str, later: str, why: str
) -> None:
    kernel.run(RIGHT, cell)
    kernel.run(later, cell)
    said = kernel.run(CHECK)
    assert said.text.startswith(AMBER)
    assert f"Your cell's last run {why}" in said.text
    assert "This is your earlier version's result: it does not count." in said.text
    assert "✓" not in said.text + "".join(said.pages)
    kernel.run(RIGHT, cell)
    assert kernel.run(CHECK).text.startswith(PASSES)


def test_a_first_try_with_a_syntax_error_is_not_taken_for_the_stub(
    kernel: Kernel, cell: str
) -> None:
    kernel.run(STUB, cell)
    assert "not written yet" in kernel.run(CHECK).text
    kernel.run(BROKEN, cell)
    said = kernel.run(CHECK)
    assert said.text.startswith(AMBER)
    assert "stopped with a SyntaxError in line 2. There is nothing new to check." in said.text


def test_a_first_try_in_a_fresh_kernel_says_where_it_stopped(kernel: Kernel, cell: str) -> None:
    kernel.run(BROKEN, cell)
    said = kernel.run(CHECK)
    assert not said.errors
    assert (
        said.text
        == f"There is no `{NAME}` yet: its cell's last run stopped with a SyntaxError in line 2."
    )


def test_a_name_mistaken_at_the_first_try_is_told(kernel: Kernel) -> None:
    kernel.run(RIGHT.replace(NAME, "stabel_softmax"), NAME)
    said = kernel.run(CHECK)
    assert not said.errors
    assert f"makes `stabel_softmax`, not `{NAME}`" in said.text


@pytest.mark.parametrize(
    "last",
    [
        f"{RIGHT}\noops",  # it was made before the cell stopped
        f"oops = 1\ntry:\n    {NAME}\nexcept NameError:\n    pass",
        f"print({NAME}(torch.zeros(2)))",
        f"{NAME} == 2 (",
        RIGHT.replace(NAME, f"{NAME}_2"),
        "def masked_mean(x, mask):\n    return x.mean(1)",
        f"{NAME} = {NAME}",
    ],
)
def test_a_cell_that_leaves_the_answer_as_its_own_cell_made_it_casts_no_doubt(
    kernel: Kernel, cell: str, last: str
) -> None:
    kernel.run(RIGHT, cell)
    kernel.run(last, cell if last.startswith(RIGHT) else cell and "another")
    assert kernel.run(CHECK).text.startswith(PASSES)


def test_a_later_definition_in_another_cell_counts(kernel: Kernel) -> None:
    kernel.run("def stable_softmax(x, dim=-1):\n    return x", NAME)
    kernel.run(RIGHT, "scratch")
    assert kernel.run(CHECK).text.startswith(PASSES)
    kernel.run(BROKEN, NAME)  # and then its own cell is tried again
    assert kernel.run(CHECK).text.startswith(AMBER)


def test_an_imported_answer_counts(kernel: Kernel, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(f"import torch\n{RIGHT}")
    kernel.run(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom mine import {NAME}", "any")
    assert kernel.run(CHECK).text.startswith(PASSES)


def test_a_deleted_answer_is_said_to_be_gone(kernel: Kernel, cell: str) -> None:
    kernel.run(RIGHT, cell)
    kernel.run(f"del {NAME}")
    said = kernel.run(CHECK)
    assert not said.errors
    assert f"`{NAME}` is not there any more: it was deleted." in said.text
    kernel.run(BROKEN, cell)
    assert "its cell's last run stopped with a SyntaxError" in kernel.run(CHECK).text


def test_a_right_object_that_is_not_the_notebooks_own_does_not_count(kernel: Kernel) -> None:
    kernel.run(RIGHT, NAME)
    kernel.run(f"kept = {NAME}\ndel {NAME}")
    said = kernel.run(f"check.{NAME}(kept)")
    assert said.text.startswith(AMBER)
    assert f"This is another object than the notebook's `{NAME}`." in said.text


def test_a_wrong_object_that_is_not_the_notebooks_own_is_judged_as_always(kernel: Kernel) -> None:
    kernel.run(RIGHT, NAME)
    said = kernel.run(f"check.{NAME}(lambda x, dim=-1: x.exp() / x.exp().sum(dim, keepdim=True))")
    assert said.text.startswith(f"✗ {NAME}")


def test_a_class_is_judged_as_its_last_version(kernel: Kernel, cell: str) -> None:
    right = "from utils.reference.modules import MultiHeadAttention as Right\n"
    right += "class MultiHeadAttention(Right):\n    pass"
    cell = cell and "MultiHeadAttention"
    check = "check.MultiHeadAttention(MultiHeadAttention)"
    kernel.run(right, cell)
    before = kernel.run(check).text
    assert "does not count" not in before
    kernel.run(right.replace("(Right):", "(Right)"), cell)
    assert kernel.run(check).text.startswith("! MultiHeadAttention: does not count")


def test_a_prediction_whose_cell_stopped_does_not_count(kernel: Kernel, cell: str) -> None:
    cell = cell and "predict_score_spread"
    check = "check.predict_score_spread(predict_score_spread)"
    kernel.run("predict_score_spread = 8.0", cell)
    assert "does not count" not in kernel.run(check).text
    kernel.run("predict_score_spread = (8.0", cell)
    assert kernel.run(check).text.startswith("! predict_score_spread: does not count")
    kernel.run("oops\npredict_score_spread = 8.0", cell)
    assert kernel.run(check).text.startswith("! predict_score_spread: does not count")
    kernel.run("predict_score_spread = 8.0\noops", cell)
    assert "does not count" not in kernel.run(check).text


def test_an_answer_that_is_mended_and_checked_in_one_cell_counts(kernel: Kernel, cell: str) -> None:
    kernel.run(STUB, cell)
    kernel.run(BROKEN, cell)
    assert kernel.run(f"{RIGHT}\n{CHECK}", cell).text.startswith(PASSES)
    kernel.run(BROKEN, cell)
    assert kernel.run(f"{RIGHT}\n{CHECK}", cell).text.startswith(PASSES)


HELPER = "def kept(x, dim):\n    return x.amax(dim, keepdim=True)\n"
HELPED = RIGHT.replace("x.amax(dim, keepdim=True)", "kept(x, dim)")


@pytest.mark.parametrize("later", [HELPER.replace("):", ")"), f"oops\n{HELPER}"])
def test_an_answer_on_a_function_whose_cell_no_longer_makes_it_does_not_count(
    kernel: Kernel, later: str
) -> None:
    kernel.run(HELPER, "scratch")
    kernel.run(HELPED, NAME)
    assert kernel.run(CHECK).text.startswith(PASSES)
    kernel.run(later, "scratch")
    said = kernel.run(CHECK)
    assert said.text.startswith(AMBER)
    assert f"`{NAME}` uses `kept`, whose cell's last run stopped with" in said.text
    kernel.run(HELPER, "scratch")
    assert kernel.run(CHECK).text.startswith(PASSES)

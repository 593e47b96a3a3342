"""The right answers beside the checks are those of the lessons' texts."""

import textwrap

import pytest

from grader.authoring.freshness import source_fault
from grader.authoring.lesson import read_lesson
from grader.authoring.right_source import right_source, source_path
from grader.cli import main
from grader.commands.making import build
from tests.course.lesson_runs import ROOT, all_lessons
from utils.checks import registry
from utils.checks.bank import source
from utils.checks.bank.table import TableError

TEXT = """\
# %% [markdown]
# # 09 · Title

# %%
import math
import matplotlib
from torch import Tensor
from utils.checks import check

# %% exercise="half"
def half(x: Tensor) -> Tensor:
    # BEGIN SOLUTION
    return x / 2
    # STUB
    # return x * 2
    # END SOLUTION

# %% test="half" points=1
check.half(half)
# BEGIN HIDDEN TESTS
check.half(half, points=1, hidden=[dict(case="x", B=1)])
# END HIDDEN TESTS
"""


@pytest.fixture(name="lesson")
def _lesson(tmp_path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "utils" / "checks" / "lessons" / "halves").mkdir(parents=True)
    (tmp_path / "solutions" / "09_halves.py").write_text(TEXT)
    return read_lesson(tmp_path / "solutions" / "09_halves.py")


def test_it_holds_the_imports_that_checks_have_and_the_answers_without_their_stubs(lesson):
    assert right_source(lesson) == textwrap.dedent("""\
        import math
        from torch import Tensor

        # %% exercise="half"
        def half(x: Tensor) -> Tensor:
            # BEGIN SOLUTION
            return x / 2
            # END SOLUTION
        """)


def test_a_labs_checks_are_found_behind_its_number_and_letter(lesson, tmp_path):
    text = lesson.text_path.rename(tmp_path / "solutions" / "09b_halves.py")
    assert source_path(read_lesson(text), tmp_path) == source_path(lesson, tmp_path)


def test_one_that_is_missing_or_older_than_the_text_is_told(lesson, tmp_path):
    path = source_path(lesson, tmp_path)
    assert path is not None and path.name == source.FILE
    assert source_fault(lesson, tmp_path) == "differs from the answers in solutions/09_halves.py"
    path.write_text(source.packed(right_source(lesson)))
    assert source_fault(lesson, tmp_path) is None
    path.write_text(source.packed(right_source(lesson).replace("/ 2", "/ 3")))
    assert source_fault(lesson, tmp_path) is not None
    path.write_text(right_source(lesson))  # not packed
    assert source_fault(lesson, tmp_path) is not None


def test_a_lesson_without_checks_of_its_own_needs_none(lesson, tmp_path):
    (tmp_path / "utils" / "checks" / "lessons" / "halves").rmdir()
    assert source_path(lesson, tmp_path) is None
    assert source_fault(lesson, tmp_path) is None


@pytest.mark.parametrize("name", all_lessons())
def test_those_of_the_course_are_as_the_texts_are(name):
    assert source_fault(all_lessons()[name], ROOT) is None


def test_the_builds_check_fails_with_the_mistakes_that_do_not_fit(monkeypatch, capsys):
    def refuse(name, _mistakes):
        if name == "causal_mask":
            raise TableError("causal_mask: odd: `x` stands 2 times in the solution.")

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(build, "verify_patches", refuse)
    assert main(["build", "--check", "02_attention"]) == 1
    assert capsys.readouterr().out == "causal_mask: odd: `x` stands 2 times in the solution.\n"


@pytest.mark.parametrize(
    "words", [["build", "--force"], ["build", "--check"], ["fingerprints"]], ids=" ".join
)
@pytest.mark.parametrize("faulty", ["read_table", "verify_patches"])
def test_a_mistake_that_cannot_be_used_is_told_in_a_line_before_the_lesson_runs(
    words, faulty, monkeypatch, capsys
):
    def refuse(*_given):
        raise TableError("causal_mask.toml is not TOML.")

    def fail(*_given):
        pytest.fail("The lesson ran.")

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(registry if faulty == "read_table" else build, faulty, refuse)
    monkeypatch.setattr(build, "executed", fail)
    registry.exercises.cache_clear()
    try:
        assert main([*words, "02_attention"]) == 1
    finally:
        registry.exercises.cache_clear()
    told = capsys.readouterr()
    assert "causal_mask.toml is not TOML." in (told.out + told.err).splitlines()

"""Wrong answers whose verdict names no cause are listed for whoever adds known mistakes."""

from dataclasses import replace

import pytest

from grader.cli import main
from tests.course.lesson_runs import ROOT
from tests.course.other_hands import _forms
from tests.unit.grader.pages.graded_class import LESSON, NO_SCALING, stub, wrong
from utils.checks.exercise import Case
from utils.checks.verdict import CaseResult, Finding, Verdict

MASK, SCALED = "padding_mask", "scaled_dot_product_attention"


def demand_missed(exercise, points):
    asked = Case("an empty row", demand="an empty row")
    results = (CaseResult(Case("plain"), None), CaseResult(asked, Finding("values", "x", "NaN.")))
    return Verdict(exercise, results, points=points)


@pytest.fixture(name="unnamed")
def _unnamed(made, monkeypatch, capsys):
    """Run the command over the class; return its exit code and lines."""
    course = replace(made.course, root=ROOT)
    monkeypatch.setattr("grader.commands.making.unnamed.GradingCourse", lambda *_: course)
    monkeypatch.chdir(ROOT)

    def run(*words):
        status = main(["unnamed", *words])
        return status, capsys.readouterr().out.splitlines()

    return run


def test_answers_without_a_cause_stand_below_their_exercise_by_what_is_said(made, unnamed):
    made.add("ada", wrong(MASK, 3), wrong(SCALED, 5, NO_SCALING))
    made.add("ben", wrong(MASK, 3), wrong(SCALED, 5))
    one = (CaseResult(Case("plain"), Finding("error", "", "It raised an error.")),)
    made.add("cleo", Verdict(MASK, one, points=3))
    assert unnamed(LESSON) == (
        0,
        [
            f"{LESSON}, {SCALED}: 1",
            "  ben: Case “plain”: 3 of 4 entries differ.",
            f"{LESSON}, {MASK}: 3",
            "  ada, ben: Case “plain”: 3 of 4 entries differ.",
            "  cleo: It raised an error.",
        ],
    )


@pytest.mark.parametrize(
    "verdict",
    [stub(MASK, 3), demand_missed(MASK, 3), wrong(MASK, 3, NO_SCALING)],
    ids=["a stub", "a right idea that misses a demand", "a named cause"],
)
def test_what_no_mistake_could_name_or_one_has_named_is_not_listed(made, unnamed, verdict):
    made.add("ada", verdict)
    assert unnamed() == (0, ["Every wrong answer has a named cause."])


def test_where_nothing_is_graded_no_answer_is_called_named(unnamed):
    assert unnamed() == (0, ["Nothing is graded yet."])


def test_a_copy_that_cannot_be_read_is_told_as_left_out(made, unnamed):
    made.add("ada", wrong(MASK, 3))
    made.add("ben", wrong(MASK, 3)).write_text("no notebook")
    status, lines = unnamed(LESSON)
    assert status == 1
    assert lines[0] == f"{LESSON}, {MASK}: 1"
    assert lines[-1] == f"Left out, for they have no graded copy that can be read: ben {LESSON}."


CODE = """\
def padding_mask(lengths, size):
    \'\'\'By Ada, 3 May.\'\'\'
    # Ada's
    return torch.arange(size) {} lengths[:, None]
"""


def test_answers_are_written_as_other_hands_without_what_tells_whose_they_are(
    made, unnamed, tmp_path
):
    sources = {
        "zoe": CODE.format("<="),
        "ada": CODE.format(">"),
        "ben": CODE.format(">").replace("Ada", "Ben"),  # the same but for its comments
        "cleo": CODE.format("<=").replace("size", "zoe_size"),
        "dan": "def padding_mask(:",
    }
    for student, source in sources.items():
        first = "Zoe" if student == "zoe" else ""
        made.add(student, wrong(MASK, 3), sources={MASK: source}, first_name=first)
    file = tmp_path / "new" / "ours.txt"
    status, lines = unnamed(LESSON, "--out", str(file))
    assert (status, lines[-1]) == (0, f"{file}: 2 answers; 3 left out.")
    text = file.read_text()
    found = list(_forms(text, "ours.txt"))
    assert [form.exercise for form in found] == [MASK, MASK]
    assert [form.source.split("arange(size) ")[1][:2] for form in found] == ["<=", "> "]
    assert not any(word in text.casefold() for word in (*sources, "may", "#'"))


def test_where_every_answer_is_named_no_file_is_written(made, unnamed, tmp_path):
    made.add("ada", wrong(MASK, 3, NO_SCALING))
    unnamed(LESSON, "--out", str(tmp_path / "ours.txt"))
    assert not (tmp_path / "ours.txt").exists()


def test_a_lesson_that_is_not_there_is_refused_with_the_nearest_name(unnamed):
    assert unnamed("02_attenton")[0] == 2

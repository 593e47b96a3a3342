"""A check shows its verdict and nothing else: no warning of the course's own, no print twice."""

import warnings

import pytest
import torch

from tests.course.lesson_runs import exercise_ids
from tests.course.other_hands import answer_of, forms
from utils.checks import check
from utils.checks.registry import exercises
from utils.checks.render import as_html, as_text


def wrong_answers(exercise: str) -> list[object]:
    """Return a wrong answer in the middle, and the last one, which came last to this course."""
    found = [f for f in forms() if f.exercise == exercise and not f.is_right]
    return [answer_of(form) for form in (found[len(found) // 2], found[-1])]


def stub(*_args, **_kwargs):
    raise NotImplementedError


@pytest.fixture
def all_warnings():
    """Let torch warn every time, not once for a process."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.usefixtures("all_warnings")
@pytest.mark.table
@pytest.mark.parametrize("exercise", exercise_ids())
def test_a_check_writes_nothing_beside_its_verdict(exercise, capfd):
    unwritten = None if exercises()[exercise].probe.kind == "predict" else stub
    answers = [unwritten, *wrong_answers(exercise)]
    capfd.readouterr()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        verdicts = [getattr(check, exercise).verdict(answer) for answer in answers]
    assert [str(warning.message) for warning in heard] == []
    assert capfd.readouterr() == ("", "")
    for verdict in verdicts:
        assert "utils/checks" not in as_text(verdict) + as_html(verdict)


@pytest.mark.usefixtures("all_warnings")
def test_a_students_own_warning_shows_their_line_and_no_path_of_ours():
    wrong = (f for f in forms() if f.exercise == "pairwise_dot" and not f.is_right)
    answer = answer_of(next(f for f in wrong if f.source.endswith("@ b.T")))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        (note,) = check.pairwise_dot.verdict(answer).notes
    assert note.says.startswith("Python warns. UserWarning: The use of `x.T`")
    assert "Triggered internally" not in note.says
    assert note.lines == ("in your line: return a @ b.T",)

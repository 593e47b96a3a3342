"""A class names its own mistakes by lines in a file, as the instructors' page shows."""

import json
import re

import pytest

from grader.authoring.notebook import source_notebook
from grader.authoring.own_mistakes import FILE, own_in, own_mistakes, with_own
from grader.authoring.sample_class import Edit, submission
from grader.cluster.request import Terms, read_items, write_request
from grader.course.course import GradingCourse
from grader.errors import CourseError
from grader.judging.judged_by import judged_by
from grader.judging.pipeline import grade_submission
from grader.reading.prepared import Item
from grader.sandbox import Limits
from tests.course.lesson_runs import ROOT, lesson_of

EXERCISE = "alibi_bias"
LESSON = lesson_of(EXERCISE)
PAGE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
WRITTEN = next(
    block for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if EXERCISE in block
)
CUBED = Edit(EXERCISE, "distance = (places.unsqueeze(1) - places).abs()",
             "distance = (places.unsqueeze(1) - places).abs() ** 3")  # fmt: skip


@pytest.fixture(name="root")
def _root(tmp_path):
    (tmp_path / FILE).write_text(WRITTEN)
    return tmp_path


def named(lesson) -> tuple[str | None, float | None]:
    """What an answer with a cubed distance is told, and what it earns."""
    data = submission(lesson, "a learner", [CUBED]).encode()
    outcome = grade_submission(data, lesson, isolate=False)
    verdict = next(result.verdict for result in outcome.results if result.exercise == EXERCISE)
    assert verdict is not None
    return verdict.mistake and verdict.mistake.name, verdict.score


@pytest.mark.usefixtures("one_fork_server")
def test_the_pages_example_names_what_no_check_named_and_changes_no_points(root):
    before, earned = named(LESSON)
    assert before != "distance_cubed"
    assert named(with_own(LESSON, own_mistakes(root))) == ("distance_cubed", earned)


def test_a_class_without_the_file_has_the_courses_mistakes(tmp_path):
    assert own_mistakes(tmp_path) == {}
    assert with_own(LESSON, {}) is LESSON


def test_the_course_reads_it_for_every_command(monkeypatch):
    monkeypatch.setattr("grader.course.course.own_mistakes", lambda root: {EXERCISE: {"x": {}}})
    found = next(one for one in GradingCourse(ROOT, ROOT).lessons if one.name == LESSON.name)
    assert own_in(found) == {EXERCISE: {"x": {}}}


def test_who_answered_that_exercise_is_judged_anew_and_nobody_else(root):
    before, after = judged_by(LESSON), judged_by(with_own(LESSON, own_mistakes(root)))
    assert {name for name in before if before[name] != after[name]} == {EXERCISE}


def test_workers_elsewhere_get_it_with_each_batch(root):
    lesson = with_own(LESSON, own_mistakes(root))
    data = json.dumps(source_notebook(LESSON)).encode()
    sent = write_request(Terms({}, Limits(), True, 1.0), [Item(data, lesson)])
    (item,) = read_items(json.loads(sent), {LESSON.name: LESSON})
    assert own_in(item.lesson) == own_mistakes(root)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (WRITTEN.replace(".abs()'", ".absolute()'"), r", line 1: alibi_bias: .* 0 times"),
        (WRITTEN.replace("'.abs()'", "'places'"), r", line 1: alibi_bias: .* 3 times"),
        (f"\n\n{WRITTEN.replace('alibi', 'alibis')}", r", line 3: .*did you mean .*alibi_bias"),
        (WRITTEN.replace("** 3", "** ("), r", line 1: .*cannot be run, SyntaxError"),
        (WRITTEN.replace("distance_cubed", "squared_distance"), "the course has .* this name"),
        (WRITTEN.replace("hint =", "hints ="), r", line 1: .*lacks hint"),
        ("alibi_bias = 3\n", r", line 1: write \[alibi_bias.NAME\]"),
        (WRITTEN.replace("]\nmessage", "\nmessage"), r"is not TOML: .*line 3"),
        ("[alibi_bias.x\n", r"is not TOML: .*line 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence_with_its_line(tmp_path, written, told):
    (tmp_path / FILE).write_text(written)
    with pytest.raises(CourseError, match=rf"^{FILE}.*{told}") as caught:
        own_mistakes(tmp_path)
    assert str(caught.value).rstrip().endswith("then run the same command.")


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfa\x00")
    with pytest.raises(CourseError, match=f"{FILE} cannot be read"):
        own_mistakes(tmp_path)


def test_every_fault_is_told_at_once(tmp_path):
    (tmp_path / FILE).write_text(WRITTEN.replace(".abs()'", "?'") + "[no_exercise.x]\n")
    with pytest.raises(CourseError) as caught:
        own_mistakes(tmp_path)
    assert len(str(caught.value).splitlines()) == 3

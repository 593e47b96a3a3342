"""What a run keeps ready, and what it leaves as it was."""

import gc
import json

import pytest

from grader.authoring.notebook import source_notebook
from grader.grading import pipeline, scoring
from grader.grading.pipeline import grade_all
from grader.grading.reading import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from tests.course.lesson_runs import all_lessons
from utils.checks.framework import expected

pytestmark = pytest.mark.usefixtures("one_fork_server")
LESSON = all_lessons()["00_start_here"]


@pytest.fixture(scope="module")
def pool():
    with Pool(1, Limits(), isolate=False) as pool:
        yield pool


def items(count: int) -> list[Item]:
    return [Item(json.dumps(source_notebook(LESSON)).encode(), LESSON)] * count


def test_what_is_expected_is_computed_before_the_first_submission_is_judged(pool, monkeypatch):
    seen = []

    def judge(*arguments, **named):
        monkeypatch.setattr(expected, "observe", lambda *_, **__: pytest.fail("an oracle ran"))
        seen.append(judged := scoring.judge_submission(*arguments, **named))
        return judged

    expected.forget()
    monkeypatch.setattr(pipeline, "judge_submission", judge)
    (outcome,) = (outcome for _, outcome in grade_all(items(1), pool))
    assert (len(seen), outcome.score) == (1, LESSON.points)


def test_a_failure_to_compute_ahead_leaves_it_to_judging(pool, monkeypatch):
    def fails(_lesson):
        raise RuntimeError("the oracle fails")

    monkeypatch.setattr(pipeline, "expect", fails)
    assert [o.score for _, o in grade_all(items(2), pool)] == [LESSON.points] * 2


def test_the_collector_looks_through_nothing_that_was_loaded_before_a_run(pool):
    assert gc.get_freeze_count() == 0
    graded = grade_all(items(2), pool)
    next(graded)
    assert gc.get_freeze_count() > 100_000
    graded.close()
    assert gc.get_freeze_count() == 0

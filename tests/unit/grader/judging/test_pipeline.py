"""What a run keeps ready, and what it leaves as it was."""

import gc
import json
import signal

import pytest

from grader.authoring.notebook import source_notebook
from grader.judging import pipeline, scoring
from grader.judging.pipeline import conclude, grade_all
from grader.reading.prepared import Item, prepare
from grader.sandbox import Ended, Ending, Limits
from grader.workers.pool import Pool
from tests.course.lesson_runs import all_lessons
from utils.checks.observe import expected

pytestmark = pytest.mark.usefixtures("one_fork_server")
LESSON = all_lessons()["00_start_here"]


@pytest.fixture(scope="module")
def pool():
    with Pool(1, Limits(), isolate=False) as pool:
        yield pool


def items(count: int) -> list[Item]:
    return [Item(json.dumps(source_notebook(LESSON)).encode(), LESSON)] * count


@pytest.mark.parametrize(
    ("number", "status", "told"),
    [
        (
            signal.SIGKILL,
            "grader error",
            "process again and again; the machine may be short of memory",
        ),
        (signal.SIGSEGV, "crashed", "The notebook ended its own process"),
    ],
)
def test_a_process_that_was_killed_is_not_said_to_have_ended_itself_and_gets_no_zero(
    number: int, status: str, told: str
):
    ended = Ended(Ending.CRASHED, None, number, (), 0, 0, 0, "")
    (item,) = items(1)
    outcome = conclude(prepare(item.data, item.lesson), ended)
    assert outcome.status == status
    assert (outcome.score is None) == (status == "grader error")
    assert told in outcome.notes[0]


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

"""An outcome that crosses as JSON is the same on the other side: for the gradebook, for pages."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grader.cluster.outcome_data import read_outcome, write_outcome
from grader.judging.outcome import Status, without_run
from grader.judging.pipeline import grade_all
from grader.reading.prepared import Item
from grader.sandbox import Limits
from grader.workers.pool import Pool
from grader.workers.protocol import WireError
from tests.course.clusters import submissions
from tests.course.lesson_runs import all_lessons
from utils.checks.render import as_mimebundle

pytestmark = pytest.mark.usefixtures("one_fork_server")
LESSON = all_lessons()["02_attention"]
WORK = {name: submissions(LESSON.name)[name] for name in ("ben", "dan", "eve", "finn")}


@pytest.fixture(scope="module")
def outcomes():
    items = [Item(data, LESSON) for data in [*WORK.values(), b"no notebook"]]
    with Pool(1, Limits(), isolate=False) as pool:
        return [outcome for _, outcome in sorted(grade_all(items, pool))]


def crossed(outcome):
    return read_outcome(json.loads(json.dumps(write_outcome(outcome))), LESSON)


def without_code(result):
    """A result whose mistakes have no code: no page shows any."""
    verdict = result.verdict
    if verdict is None:
        return result
    named = {n: getattr(verdict, n) for n in ("mistake", "second")}
    bare = {n: m and replace(m, answer=None) for n, m in named.items()}
    return replace(result, verdict=replace(verdict, **bare))


def test_an_outcome_is_the_same_on_the_other_side(outcomes):
    for outcome in outcomes:
        bare = replace(outcome, results=tuple(map(without_code, outcome.results)))
        assert crossed(outcome) == bare
    assert {outcome.status for outcome in outcomes} == {Status.GRADED, Status.MALFORMED}


def test_what_a_student_sees_is_the_same_on_the_other_side_pictures_included(outcomes):
    shown = 0
    for outcome in outcomes:
        for here, there in zip(outcome.results, crossed(outcome).results, strict=True):
            if here.verdict is not None:
                assert as_mimebundle(there.verdict) == as_mimebundle(here.verdict)
                findings = [r.finding for r in there.verdict.results if r.finding is not None]
                shown += sum(f.pictures is not None for f in findings)
    assert shown > 0


def test_a_grader_error_has_no_score_on_the_other_side_either():
    assert crossed(without_run(LESSON, Status.GRADER_ERROR, "ours")).score is None


def spoiled(data, *path, value):
    """The data with one value replaced, deep inside."""
    *way, last = path
    inner = data
    for step in way:
        inner = inner[step]
    inner[last] = value
    return data


FINDING = ("results", 2, "verdict", "findings")
SPOILED = {
    "an unknown status": (("status",), "excellent"),
    "an exercise less": (("results",), []),
    "another exercise": (("results", 0, "exercise"), "made_up"),
    "a case less": (FINDING, [None]),
    "an unknown kind": ((*FINDING, 0), {"kind": "odd", "texts": [""] * 4, "details": [],
                                        "pictures": None}),
    "a number for a text": (("notes",), [3]),
    "a picture that is none": ((*FINDING, 0), {"kind": "values", "texts": [""] * 4, "details": [],
                                               "pictures": [1, 2]}),
    "half a mistake": (("results", 0, "verdict", "mistakes"), [None]),
    "no results": (("results",), None),
}  # fmt: skip


@pytest.mark.parametrize(("path", "value"), SPOILED.values(), ids=SPOILED)
def test_what_is_no_outcome_of_the_lesson_is_refused(outcomes, path, value):
    data = json.loads(json.dumps(write_outcome(outcomes[0])))
    with pytest.raises(WireError):
        read_outcome(spoiled(data, *path, value=value), LESSON)


def test_no_score_crosses_that_the_client_does_not_compute_itself(outcomes):
    data = json.loads(json.dumps(write_outcome(outcomes[0])))
    data["score"] = data["results"][0]["score"] = data["results"][0]["points"] = 1000
    assert read_outcome(data, LESSON).score == outcomes[0].score
    assert np.isfinite(outcomes[0].score)

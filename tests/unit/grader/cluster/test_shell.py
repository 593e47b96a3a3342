import io
import json
from dataclasses import replace

import pytest

from grader.cluster.request import Terms, write_request
from grader.cluster.shell import Grader, serve
from grader.cluster.versions import versions
from grader.reading.prepared import Item
from grader.sandbox import Limits
from tests.course.lesson_runs import all_lessons

LESSON = all_lessons()["00_start_here"]
TERMS = Terms(versions(), Limits(), isolate=False, seconds=600.0)
ITEMS = [Item(b"no notebook", LESSON), Item(b"none either", LESSON)]


@pytest.fixture
def grader(tmp_path):
    found = Grader(1, tmp_path)
    yield found
    found.close()


def answers(grader, terms=TERMS):
    return list(grader.answers(write_request(terms, ITEMS)))


def test_every_submission_is_answered_by_its_position(grader):
    found = answers(grader)
    assert sorted(answer["position"] for answer in found) == [0, 1]
    assert {answer["outcome"]["status"] for answer in found} == {"malformed"}


def test_the_pool_is_kept_from_batch_to_batch(grader):
    answers(grader)
    pool = grader._pool
    answers(grader)
    assert grader._pool == pool
    answers(grader, replace(TERMS, limits=Limits(wall_seconds=5)))
    assert grader._pool != pool


def test_terms_of_another_version_are_refused_with_the_own_versions(grader):
    other = replace(TERMS, versions=versions() | {"torch": "1"})
    assert answers(grader, other) == [{"refused": versions()}]


def test_after_its_time_a_batch_is_left_unfinished(grader):
    assert answers(grader, replace(TERMS, seconds=-1.0)) == []


def test_a_machine_that_cannot_grade_says_why(tmp_path):
    (found,) = answers(Grader(1, tmp_path / "gone"))
    assert found["failed"].startswith("FileNotFoundError: ")


def test_a_line_that_is_no_batch_fails_and_the_next_is_answered(grader):
    lines, told = io.BytesIO(b"no batch\n" + write_request(TERMS, ITEMS) + b"\n"), io.BytesIO()
    serve(grader, lines, told)
    first, end, *others, last = told.getvalue().splitlines()
    assert "failed" in json.loads(first)
    assert (end, last, len(others)) == (b"end", b"end", 2)

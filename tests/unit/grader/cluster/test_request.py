import json

import pytest

from grader.cluster.request import Terms, read_items, read_terms, write_request
from grader.course.secret import varied
from grader.reading.prepared import Item
from grader.sandbox import Limits
from tests.course.lesson_runs import all_lessons

SECRET = "a secret of this class"
TERMS = Terms({"torch": "2"}, Limits(wall_seconds=7), isolate=True, seconds=9.0)
LESSON = all_lessons()["02_attention"]


@pytest.mark.parametrize("secret", ["", SECRET])
def test_a_worker_reads_the_submissions_and_the_hidden_cases_of_the_client(secret):
    lesson = varied(LESSON, secret)
    items = [Item(b"{}", lesson), Item("ü\ud800".encode("utf-8", "surrogatepass"), lesson)]
    request = json.loads(write_request(TERMS, items))
    assert read_items(request, all_lessons()) == items
    assert read_terms(request) == TERMS


def test_the_secret_stays_with_the_client():
    assert SECRET.encode() not in write_request(TERMS, [Item(b"{}", varied(LESSON, SECRET))])


def test_a_batch_is_one_line():
    assert b"\n" not in write_request(TERMS, [Item(b"one\ntwo\n", LESSON)])


def test_words_that_do_not_fit_the_lesson_are_an_error():
    request = json.loads(write_request(TERMS, [Item(b"{}", varied(LESSON, SECRET))]))
    next(iter(request["words"][LESSON.name].values())).pop()
    with pytest.raises(ValueError, match="shorter"):
        read_items(request, all_lessons())

"""What a server refuses, or the lack of its driver, is told in a sentence."""

import sys

import pytest
from sqlalchemy.exc import OperationalError

from grader.errors import CourseError
from grader.gradebook.refusals import refusal
from grader.gradebook.server import open_gradebook

URL = "postgresql://ada:s3cret@host/grades"
SAID = {
    'connection failed: FATAL:  database "grades" does not exist': "there is no such database",
    'FATAL:  role "ada" does not exist': "does not know this name",
    'FATAL:  password authentication failed for user "ada"': "does not take the name or password",
    "fe_sendauth: no password supplied": "asks for a password",
    "permission denied for schema public\nLINE 2: CREATE": "may not do that there",
    "connection timeout expired": "does not answer",
    "failed to resolve host 'host'": "does not answer",
    'definition of service "x" not found': "no such service",
    "deadlock detected with s3cret": "the database refused",
}


@pytest.mark.parametrize("said", SAID)
def test_a_cause_is_told_in_one_line_with_what_helps_and_without_the_password(said):
    told = refusal(OperationalError("SELECT 1", None, Exception(said)), URL)
    assert SAID[said] in told
    assert told.endswith(", then run the same command.")
    assert "\n" not in told
    assert "s3cret" not in told


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CourseError, match=r"not installed.*\[grader,postgres\]"):
        open_gradebook(URL)

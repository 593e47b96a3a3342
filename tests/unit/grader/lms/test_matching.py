"""Which lesson a notebook is of is told from its cells, whatever else a file holds."""

import pytest

from grader.lms.matching import Unmatched, lesson_of
from grader.notebook_limits import MOST_BYTES, MOST_PARTS
from tests.course.lesson_runs import all_lessons


def test_a_notebook_of_a_million_parts_is_refused_before_it_is_read():
    data = b'{"cells": [' + b"[]," * MOST_PARTS + b"[]]}"
    with pytest.raises(
        Unmatched, match=r"too many numbers or texts: ask for it again with its out"
    ):
        lesson_of(data, list(all_lessons().values()))


def test_of_a_notebook_that_is_too_large_it_is_said_to_ask_for_it_without_its_outputs():
    with pytest.raises(Unmatched, match=r"16 MiB: ask for it again with its outputs cleared"):
        lesson_of(b" " * (MOST_BYTES + 1), list(all_lessons().values()))

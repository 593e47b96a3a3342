"""Which lesson a notebook is of is told from its cells, whatever else a file holds."""

import pytest

from grader.lms.matching import Unmatched, lesson_of
from grader.notebook_limits import MOST_PARTS
from tests.course.lesson_runs import all_lessons


def test_a_notebook_of_a_million_parts_is_refused_before_it_is_read():
    data = b'{"cells": [' + b"[]," * MOST_PARTS + b"[]]}"
    with pytest.raises(Unmatched, match="too many numbers or texts"):
        lesson_of(data, list(all_lessons().values()))

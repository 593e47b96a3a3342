"""Reading a submission is bounded, whatever its text; what is too much is told."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from grader.authoring.lesson import Lesson
from grader.course.hand_in_time import as_time
from grader.grading.submitted import _timestamp
from grader.lms.storing import time_of
from grader.notebook_file import Malformed
from grader.notebook_limits import MOST_PARTS
from grader.reading import prepared as reading
from grader.reading.own_process import OwnProcess
from grader.reading.prepared import Item, prepare, read_ahead
from grader.reading.submission import read_submission
from tests.course.lesson_runs import all_lessons

SIZE = 250 << 10
HEAVY = {  # each took more than 25 s, or gibibytes, to read
    "one import of many parts": "import a" + ".a" * (SIZE // 2 - 20),
    "its name used": "import a" + ".a" * (SIZE // 4) + " as q\n" + "q.b\n" * (SIZE // 16),
    "calls whose owner is the same": "a.b(c)\n" * (SIZE // 7),
    "a name bound again and again": "a=b;b=a\n" * (SIZE // 8),
    "stars times names": "from a import *\n" * 6000
    + "def scaled_dot_product_attention():\n"
    + "".join(f" v{n}\n" for n in range(17_000)),
    "fields of an f-string": "f'" + "{a}" * (SIZE // 3) + "'",
}


@cache
def lesson() -> Lesson:
    return all_lessons()["02_attention"]


def notebook(source: str) -> bytes:
    cell = {"cell_type": "code", "source": source, "metadata": {}}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode()


@pytest.mark.parametrize("name", HEAVY)
def test_a_text_made_to_be_slow_is_read_within_the_limit_or_malformed(name: str, monkeypatch):
    limits = []

    def bounded(work):
        limits.append(work)
        return in_own_process(work, cpu_seconds=1)

    in_own_process = reading.in_own_process
    monkeypatch.setattr(reading, "in_own_process", bounded)
    try:
        prepare(notebook(HEAVY[name]), lesson())
    except Malformed as error:
        assert "more time or memory" in str(error)
    assert len(limits) == 1  # none of it was read here


def test_why_a_notebook_is_malformed_comes_out_of_the_process_that_read_it():
    with pytest.raises(Malformed, match="not JSON"):
        prepare(b"{", lesson())


def test_what_costs_too_much_hurts_none_of_those_that_are_read_with_it(monkeypatch):
    class Impatient(OwnProcess):
        def __init__(self, work):
            super().__init__(work, cpu_seconds=1)

    monkeypatch.setattr(reading, "OwnProcess", Impatient)
    heavy = notebook(HEAVY["one import of many parts"])
    items = [Item(notebook(f"x = {n}"), lesson()) for n in range(reading.TOGETHER + 3)]
    items[2], items[5] = Item(heavy, lesson()), Item(b"{", lesson())
    found = [read for _, read in read_ahead(items)]
    assert len(found) == len(items)
    sources = [getattr(read, "plan", None) and read.plan.steps[0].source.strip() for read in found]
    assert [s for n, s in enumerate(sources) if n not in (2, 5)] == [
        f"x = {n}" for n in range(len(items)) if n not in (2, 5)
    ]
    assert "not JSON" in str(found[5])


def test_who_stops_early_leaves_no_process_behind(monkeypatch):
    begun = []

    class Kept(OwnProcess):
        def __init__(self, work):
            super().__init__(work)
            begun.append(self)

    monkeypatch.setattr(reading, "OwnProcess", Kept)
    found = read_ahead(Item(notebook("x = 1"), lesson()) for _ in range(3 * reading.TOGETHER))
    next(found)
    found.close()
    assert len(begun) == 2  # these and the next ones, no more
    for process in begun:
        with pytest.raises(ChildProcessError):
            os.waitpid(process._child, 0)


def test_whoever_is_graded_first_waits_for_few_and_later_ones_are_read_together(monkeypatch):
    sizes = []
    begin = reading._begin

    def counted(waiting, count, ends):
        found = begin(waiting, count, ends)
        sizes.append(len(found[0]) if found else 0)
        return found

    monkeypatch.setattr(reading, "_begin", counted)
    found = read_ahead(Item(notebook("x = 1"), lesson()) for _ in range(3 * reading.TOGETHER))
    next(found)
    assert sizes == [reading.FIRST, 2 * reading.FIRST]
    assert len(list(found)) == 3 * reading.TOGETHER - 1
    assert max(sizes) == reading.TOGETHER == sizes[4]


def test_a_notebook_with_a_byte_order_mark_is_read_and_one_in_utf_16_is_told():
    _, cells = read_submission(b"\xef\xbb\xbf" + notebook("x = 1"))
    assert [cell.source for cell in cells] == ["x = 1"]
    with pytest.raises(Malformed, match="not UTF-8"):
        read_submission(notebook("x = 1").decode().encode("utf-16"))


@pytest.mark.parametrize("part", [b"[],", b"{},", b"0,"])
def test_a_notebook_of_more_small_parts_than_grading_reads_is_malformed(part: bytes):
    data = b'{"cells":[],"metadata":[' + part * MOST_PARTS + b"0]}"
    with pytest.raises(Malformed, match="Clear its outputs"):
        read_submission(data)


TIMES = {
    "2026-12-04 23:59:59.123456 UTC": "2026-12-04 23:59:59.123456",
    "2026-12-04 23:59:59 UTC": "2026-12-04 23:59:59",
    "2026-12-04T23:59:59Z": "2026-12-04 23:59:59",
    "2026-07-04 23:59:59 Europe/Berlin": "2026-07-04 21:59:59",
    "2026-12-04 23:59+01:00": "2026-12-04 22:59:00",
}
NO_TIMES = [
    "1...h nan", "2026-12-04 23:59:59 UTC junk", "2026-12-04 23:59:59 UTC\0", "2026-12-04 23:59 Q",
    "2026-12-04 10:00:00 /etc/passwd", "2026-12-04 10:00:00 ../../passwd",
    "2026-02-30 10:00:00 UTC",
    "2026-12-04 23:59 +0100", "9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 +2359", "now",
    "12", "١٢", "1" * 50, "nan", "",
    "2026-12-04 23:59:59 UTC" + " " * 50 + "x", "2026-12-04 23:59:59 +9999999999999999",
]  # fmt: skip


@pytest.mark.parametrize("text", TIMES)
def test_a_time_as_nbgrader_writes_it_is_read(text: str):
    assert f"{as_time(text):%Y-%m-%d %H:%M:%S.%f}".startswith(TIMES[text])


@pytest.mark.parametrize("text", NO_TIMES, ids=ascii)
def test_any_other_text_beside_a_hand_in_is_no_time_and_stops_nothing(text: str, tmp_path: Path):
    (tmp_path / "timestamp.txt").write_text(text, encoding="utf-8")
    assert as_time(text) is None
    assert _timestamp(tmp_path) == ""
    assert time_of(tmp_path) is not None  # the file's own

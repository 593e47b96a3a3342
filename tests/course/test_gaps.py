"""Answers that a critical reader found let through, unnamed or told a false cause."""

from pathlib import Path

import pytest

from grader.authoring.percent import Cell, read_cells
from tests.course.other_hands import Form, judged
from utils.checks.verdict import Verdict

GAPS = Path(__file__).with_name("gaps.txt")
ANSWERS = [
    pytest.param(cell, id=f"{cell.exercise}: {cell.header['gap']}")
    for cell in read_cells(GAPS.read_text(encoding="utf-8"), GAPS.name)
]


def verdict_on(cell: Cell) -> Verdict:
    name = cell.exercise or ""
    return judged(Form(f"{name}-gap-{cell.line}", name, cell.source, (cell.header["gap"],), ()))


def told(verdict: Verdict) -> str:
    """What the student reads: the cause and its hint, symptoms, what was found."""
    cause, shown = verdict.mistake, verdict.first_failure
    words = [cause.message, cause.hint] if cause is not None else []
    finding = shown.finding.message if shown is not None and shown.finding is not None else ""
    return " ".join([*words, *map(str, verdict.symptoms), finding]).lower()


@pytest.mark.table
@pytest.mark.parametrize("cell", ANSWERS)
def test_an_answer_that_once_went_unnoticed_is_refused_and_told_what_is_true(cell):
    verdict = verdict_on(cell)
    assert not verdict.passed
    if cell.header.get("named"):
        assert verdict.mistake is not None
    for words in cell.header.get("says", ()):
        assert words.lower() in told(verdict)
    for words in cell.header.get("never", ()):
        assert words.lower() not in told(verdict)

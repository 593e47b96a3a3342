"""Counts and spans of time read as a person writes them."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.course.book import Record
from grader.course.report import lateness
from grader.course.wording import plural, span

DUE = datetime(2026, 11, 20)


@pytest.mark.parametrize(("count", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages")])
def test_only_a_single_thing_has_no_s(count: int, text: str) -> None:
    assert plural(count, "page") == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(seconds=3), "1 minute"),
        (timedelta(hours=1, minutes=5), "1 hour 5 minutes"),
        (timedelta(days=2, hours=3, minutes=9), "2 days 3 hours"),
    ],
)
def test_a_span_is_written_in_its_largest_units(length: timedelta, text: str) -> None:
    assert span(length) == text


def test_lateness_is_told_in_days_and_hours_and_not_in_seconds() -> None:
    assert (
        lateness(Record(Path(), "ada", "", "", DUE + timedelta(6), DUE, penalty=10))
        == "   6 days late: -10"
    )


def test_of_a_hand_in_on_time_no_lateness_is_told() -> None:
    assert lateness(Record(Path(), "ada", "")) == ""

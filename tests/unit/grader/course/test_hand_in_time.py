"""What is known of when a hand-in came: a time that is one, and what Canvas's marks say."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.hand_in_time import Came, Download, as_time, late_by

DUE = datetime(2026, 10, 12, 22, tzinfo=UTC)
ZONES = ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kathmandu", "EST", "CET",
         "America/Port-au-Prince", "Etc/GMT+5", "US/Pacific"]  # fmt: skip
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2090, 1, 1))
DAYS = st.integers(0, 400).map(lambda days: timedelta(days=days))


@given(MOMENTS, st.sampled_from(ZONES))
def test_a_time_with_a_zone_that_exists_is_the_moment_there(when, zone):
    told = when.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)  # of two moments the earlier one
    other = when.replace(tzinfo=ZoneInfo(zone), fold=1).astimezone(UTC)
    assert as_time(f"{when:%Y-%m-%d %H:%M:%S.%f} {zone}") == min(told, other)


@given(MOMENTS, st.integers(-14 * 60, 14 * 60))
def test_a_time_with_an_offset_is_that_much_away_from_utc(when, minutes):
    there = when.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    assert as_time(there.isoformat()) == there
    assert as_time(there.strftime("%Y-%m-%d %H:%M:%S%z")) == there


@pytest.mark.parametrize(
    "word",
    ["", " PST", " PM", " AM", " CEST", " IST", " Europe/Berln", " europe/atlantis", " Europe",
     " local", " localtime", " Factory", " posix/Europe/Berlin", " right/UTC", " UTC+1", " Berlin",
     " o'clock", " Q", "X", "+25:00", " Uhr", " ../UTC", " EDT"],
)  # fmt: skip
def test_a_time_with_another_word_behind_it_or_none_is_no_time(word):
    assert as_time("2026-10-12 07:00 UTC") == datetime(2026, 10, 12, 7, tzinfo=UTC)
    assert as_time(f"2026-10-12 07:00{word}") is None


@given(DAYS, DAYS, st.sampled_from([True, None]))
def test_the_day_of_the_download_changes_nothing_of_what_came_late(first, second, mark):
    times = {Came(DUE + timedelta(1) + wait, False, DUE, mark).time for wait in (first, second)}
    assert times == {DUE + timedelta(seconds=1)}


@given(st.integers(-100, 100), st.integers(-100, 100))
def test_what_canvas_does_not_mark_is_on_time_whenever_it_was_downloaded_and_due(wait, moved):
    came = Came(DUE + timedelta(days=wait), False, DUE, False)
    later = DUE + timedelta(days=moved)
    assert late_by(came.time, DUE) == late_by(came.following(later).time, later) == timedelta()


@given(DAYS, st.integers(1, 60 * 24 * 60))
def test_a_mark_late_costs_nothing_within_an_extension(wait, minutes):
    came = Came(DUE + wait, False, DUE, True)
    assert late_by(came.time, DUE, timedelta(minutes=minutes)) == timedelta()
    assert late_by(came.time, DUE) == timedelta(seconds=1)
    assert late_by(came.following(DUE + timedelta(minutes=minutes)).time, DUE) == timedelta(0, 1)


def test_a_due_date_that_is_set_after_collecting_is_the_one_that_the_mark_speaks_of():
    came = Came(DUE + timedelta(days=40), False, None, True)
    assert came.following(DUE).time == DUE + timedelta(seconds=1)


@given(DAYS)
def test_the_time_of_a_file_in_moodle_is_when_it_came_whatever_the_due_date(late):
    came = Came(DUE + late, True, DUE)
    assert came.time == came.following(DUE - late).time == DUE + late
    assert came.is_late == bool(late)
    assert came.is_day_known


@given(DAYS, DAYS)
def test_a_file_beside_a_late_notebook_counts_whenever_it_was_downloaded(first, second):
    download = Download({("a", ""): DUE}, is_exact=False, slot="a")
    notebook, beside = (download.came("a", DUE + d, is_marked=True).time for d in (first, second))
    latest = download.latest("a", "ada", notebook)
    assert latest is not None
    assert beside <= latest


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-10-25 02:30 Europe/Berlin", (25, 0)), ("2026-11-01 01:30 US/Pacific", (1, 8))],
)
def test_a_time_that_clocks_show_twice_is_the_earlier_of_both(text, hour):
    when = as_time(text)
    assert when is not None
    assert (when.day, when.hour) == hour

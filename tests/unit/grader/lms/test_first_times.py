"""What a hand-in's time is in the end, whichever way it came and whenever it was downloaded."""

from datetime import UTC, datetime, timedelta

import pytest

from grader.cli import main
from grader.course.hand_in_time import as_time
from grader.course.notices import notices
from tests.unit.grader.lms.downloads import (
    DUE,
    LESSON,
    NOON,
    Item,
    notebook,
    small_course,
)  # fmt: skip
from tests.unit.grader.lms.test_collect import CANVAS_ADA, collect

FIRST, SECOND = notebook("first = 1"), notebook("second = 2")
DEADLINE = datetime.fromisoformat(DUE).replace(tzinfo=UTC)
JUST_LATE = DEADLINE + timedelta(seconds=1)
LATE = "lovelaceada_LATE_11_101_x.ipynb"
MOODLE = "Ada Lovelace_71_assignsubmission_file/x.ipynb"
DAY = timedelta(days=1)


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    return small_course(tmp_path)


def set_due(course, when, student=""):
    (course.folder / "due.csv").write_text(f"lesson,due,student\n{LESSON},{when},{student}\n")
    assert main(["deadlines", "due.csv"]) == 0


def home(course, student="ada"):
    return course.folder / "submitted" / student / LESSON


def stamp(course, student="ada"):
    return as_time((home(course, student) / "timestamp.txt").read_text())


def put(course, data, time=None):
    """Put a hand-in there by hand, as from an e-mail or a repository of GitHub Classroom."""
    home(course).mkdir(parents=True)
    (home(course) / f"{LESSON}.ipynb").write_bytes(data)
    if time:
        (home(course) / "timestamp.txt").write_text(time)


# --- Canvas's mark ----------------------------------------------------------------------------


@pytest.mark.parametrize("days", [0, 1, 7, 47, 400])
def test_a_mark_late_counts_as_just_late_whenever_it_is_downloaded_and_is_told(
    course, days, capsys
):
    set_due(course, DUE)
    collect(course, {LATE: Item(FIRST, DEADLINE + timedelta(minutes=1) + days * DAY)})
    assert stamp(course) == JUST_LATE
    said = capsys.readouterr().out
    assert f"LATE, and not by how much: ada {LESSON}. Each counts as just late" in said
    assert (
        f"late, day not known: ada {LESSON}. Each counts as just late"
        in notices(course, course.book())[0]
    )


def test_a_deadline_set_after_collecting_dates_what_was_marked_by_then(course):
    collect(course, {LATE: Item(FIRST, NOON + 30 * DAY),
                     "muellerdan_14_103_x.ipynb": Item(FIRST, NOON + 30 * DAY)})  # fmt: skip
    set_due(course, DUE)
    assert stamp(course) == JUST_LATE
    assert stamp(course, "dan") == DEADLINE


@pytest.mark.parametrize("moved", [-9, 9])
def test_a_deadline_that_is_moved_makes_nobody_late_who_was_on_time(course, moved):
    set_due(course, DUE)
    collect(course, {CANVAS_ADA: Item(FIRST, NOON + 30 * DAY)})
    set_due(course, DEADLINE + moved * DAY)
    assert stamp(course) <= DEADLINE + moved * DAY


def test_a_deadline_that_is_moved_back_may_cover_what_was_marked_late(course):
    set_due(course, DUE)
    collect(course, {LATE: Item(FIRST, NOON + 30 * DAY)})
    set_due(course, DEADLINE + 2 * DAY)
    assert stamp(course) == JUST_LATE


def test_a_time_that_a_person_wrote_in_place_of_an_unknown_one_stays(course):
    set_due(course, DUE)
    late = {LATE: Item(FIRST, NOON + 30 * DAY)}
    collect(course, late)
    (home(course) / "timestamp.txt").write_text("2026-11-24 09:00+01:00")
    assert collect(course, late) == 0
    set_due(course, DEADLINE + DAY)
    assert stamp(course) == datetime(2026, 11, 24, 8, tzinfo=UTC)
    assert notices(course, course.book()) == []


def test_of_two_hand_ins_marked_late_the_one_with_the_higher_number_counts(course):
    set_due(course, DUE)
    later = {"lovelaceada_LATE_11_205_x-1.ipynb": Item(SECOND, NOON + 9 * DAY)}
    collect(course, {LATE: Item(FIRST, NOON + 5 * DAY)})
    collect(course, later)
    collect(course, {LATE: Item(FIRST, NOON + 12 * DAY)})
    assert (home(course) / f"{LESSON}.ipynb").read_bytes() == SECOND


# --- Equal work -------------------------------------------------------------------------------

IN_TIME, AFTER = NOON - DAY, NOON + 3 * DAY
LATER = {
    "canvas": {"lovelaceada_LATE_11_205_x-1.ipynb": Item(FIRST, AFTER)},
    "moodle": {MOODLE: Item(FIRST, AFTER)},
}


@pytest.mark.parametrize("system", LATER)
@pytest.mark.parametrize("time", [f"{IN_TIME:%Y-%m-%d %H:%M:%S} UTC", "2026-11-21T13:00:00+01:00"])
def test_work_that_a_person_put_there_keeps_its_time_when_it_comes_again(course, system, time):
    set_due(course, DUE)
    put(course, FIRST, time)
    for _ in range(2):
        collect(course, LATER[system], system)
        assert stamp(course) == IN_TIME


@pytest.mark.parametrize("system", LATER)
def test_work_that_lies_there_without_a_time_stays_on_time_when_it_comes_again(course, system):
    set_due(course, DUE)
    put(course, FIRST)
    for _ in range(2):
        collect(course, LATER[system], system)
        assert not (home(course) / "timestamp.txt").exists()


@pytest.mark.parametrize("system", LATER)
def test_a_text_that_is_no_time_beside_equal_work_gives_way_to_a_time(course, system):
    set_due(course, DUE)
    put(course, FIRST, "2026-11-21 07:00 PST")
    collect(course, LATER[system], system)
    assert stamp(course) == (JUST_LATE if system == "canvas" else AFTER)


def test_the_same_work_under_another_number_keeps_the_time_at_which_it_was_on_time(course):
    set_due(course, DUE)
    collect(course, {CANVAS_ADA: Item(FIRST, IN_TIME)})
    collect(course, LATER["canvas"])
    assert stamp(course) == IN_TIME


def test_the_same_work_in_moodle_under_an_earlier_time_takes_it(course):
    collect(course, {MOODLE: Item(FIRST, AFTER)}, "moodle")
    collect(course, {MOODLE.replace("x.", "y."): Item(FIRST, IN_TIME)}, "moodle")
    assert stamp(course) == IN_TIME


# --- A time that is none ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["2026-11-21 07:00 PST", "2026-11-21 07:00 PM", "yesterday",
                                  "2026-11-21 07:00 Europe/Berln", "2026-11-21 07:00"])  # fmt: skip
def test_a_text_that_is_no_time_is_told_as_it_stands(course, text):
    put(course, FIRST, text)
    (told,) = notices(course, course.book())
    assert told.startswith(
        f'no time in timestamp.txt, counted as on time: ada {LESSON} has "{text}"'
    )
    assert "an offset such as +01:00 or a zone such as Europe/Berlin" in told

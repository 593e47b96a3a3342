"""When a hand-in counts: what Canvas's mark says and of what, and files beside a notebook."""

from datetime import timedelta

import pytest
from nbgrader.utils import parse_utc

from grader.cli import main
from grader.commands import collect as command
from tests.unit.course_files import LESSON_WITHOUT_PLOT
from tests.unit.grader.lms.downloads import (
    DUE,
    LESSON,
    NOON,
    Item,
    notebook,
    small_course,
)  # fmt: skip
from tests.unit.grader.lms.test_collect import collect, kept, reasons

OTHER, LATER = "02_halving", "2026-12-22 18:00:00"
FIRST, SECOND = notebook("first = 1"), notebook("second = 2")
HALF = notebook("def halve(x): return x / 2", "halve")
JUST_LATE = parse_utc(DUE) + timedelta(seconds=1)
AFTER = NOON + timedelta(days=8)  # the first lesson is due by then, the other is not
GUESSED = "predictions.txt"
MOODLE = "Ada Lovelace_71_assignsubmission_file"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two lessons; with notebooks of the first, predictions may come."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "COMPANIONS", {LESSON: (GUESSED,)})
    course = small_course(tmp_path)
    text = LESSON_WITHOUT_PLOT.replace("double", "halve").replace("predict_sum", "predict_half")
    (tmp_path / "solutions" / f"{OTHER}.py").write_text(text)
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)
        gradebook.update_or_create_assignment(OTHER, duedate=LATER)
    return course


def time_of(course, student, lesson=LESSON):
    text = (course.folder / "submitted" / student / lesson / "timestamp.txt").read_text()
    return parse_utc(text)


def guessed(course, student="ada"):
    """The predictions that count; None if there are none."""
    path = course.folder / "submitted" / student / LESSON / GUESSED
    return path.read_bytes() if path.exists() else None


# --- Canvas's mark ----------------------------------------------------------------------------

HALVES = {
    "oneillbjorn_12_102_x.ipynb": Item(HALF, AFTER),
    "muellerdan_14_103_x.ipynb": Item(HALF, AFTER),
}


def test_another_assignments_slot_makes_no_late_notebook_one_in_time(course, capsys):
    collect(course, {**HALVES, "lovelaceada_11_101_x.ipynb": Item(FIRST, AFTER)})
    assert time_of(course, "ada") == JUST_LATE
    said = capsys.readouterr().out
    assert "3 new; 1 late" in said
    assert f"Canvas marks LATE for {OTHER} alone. Check these by hand" in said
    assert f"which may be late: ada {LESSON}. Each counts as just late" in said


def test_another_assignments_mark_makes_no_notebook_late(course):
    firsts = {name: Item(FIRST, AFTER) for name in HALVES}
    collect(course, {**firsts, "lovelaceada_LATE_11_101_x.ipynb": Item(HALF, AFTER)})
    assert time_of(course, "ada", OTHER) == AFTER.replace(tzinfo=None)
    assert time_of(course, "dan") == parse_utc(DUE)


def test_one_notebook_does_not_say_whose_the_download_is_and_the_instructor_can(course, capsys):
    alone = {"lovelaceada_11_101_x.ipynb": Item(FIRST, AFTER)}
    collect(course, alone)
    assert time_of(course, "ada") == JUST_LATE
    assert "for one lesson alone; name it with --lesson. Check these" in capsys.readouterr().out
    collect(course, alone, "canvas", "--lesson", LESSON)
    assert time_of(course, "ada") == parse_utc(DUE)
    assert "LATE" not in capsys.readouterr().out


def test_as_many_of_two_lessons_leave_open_whose_the_download_is(course, capsys):
    firsts = {name.replace("_x", "_y"): Item(FIRST, AFTER) for name in HALVES}
    collect(course, {**HALVES, **firsts})
    assert time_of(course, "dan") == JUST_LATE
    assert "Check these by hand" in capsys.readouterr().out


# --- Files beside a notebook ------------------------------------------------------------------


def moodle(course, *files):
    """Collect what Ada has in Moodle: (name, content, time) each."""
    items = {f"{MOODLE}/{name}": Item(content, time) for name, content, time in files}
    return collect(course, items, "moodle")


def test_predictions_that_come_later_are_added_to_an_unchanged_notebook(course, capsys):
    moodle(course, ("x.ipynb", FIRST, NOON))
    assert guessed(course) is None
    hour = timedelta(hours=1)
    assert moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"one", NOON + hour)) == 0
    assert guessed(course) == b"one"
    assert "1 collected already, with a new file beside it" in capsys.readouterr().out
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"two", NOON + 2 * hour))
    assert guessed(course) == b"two"
    (old,) = (course.folder / "lms" / "replaced" / LESSON / "ada").glob(f"*/{GUESSED}")
    assert old.read_bytes() == b"one"
    assert time_of(course, "ada") == NOON.replace(tzinfo=None)


def test_older_predictions_never_replace_newer_ones_and_are_told(course):
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"two", NOON + timedelta(hours=2)))
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"one", NOON + timedelta(hours=1)))
    assert guessed(course) == b"two"
    assert "not newer" in reasons(course)[f"{MOODLE}/{GUESSED}"][0]
    assert kept(course, f"{MOODLE}/{GUESSED}") == b"one"


def test_what_came_beside_an_older_notebook_is_told_too(course):
    moodle(course, ("x.ipynb", SECOND, NOON))
    hour_before = NOON - timedelta(hours=1)
    moodle(course, ("x.ipynb", FIRST, hour_before), (GUESSED, b"one", NOON))
    assert guessed(course) is None
    assert "or its notebook, is not newer" in reasons(course)[f"{MOODLE}/{GUESSED}"][0]


def test_predictions_without_a_notebook_are_told(course):
    assert moodle(course, (GUESSED, b"one", NOON)) == 1
    assert reasons(course)[f"{MOODLE}/{GUESSED}"][0] == "no notebook came with it"


def test_late_predictions_do_not_count_and_leave_the_notebook_in_time(course, capsys):
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"late", AFTER))
    assert guessed(course) is None
    assert time_of(course, "ada") == NOON.replace(tzinfo=None)
    assert "it came after 2026-11-22 18:00 UTC, too late" in capsys.readouterr().out
    assert kept(course, f"{MOODLE}/{GUESSED}") == b"late"


def test_late_predictions_do_not_take_the_place_of_those_in_time(course):
    both = ("a/" + GUESSED, b"in time", NOON), ("b/" + GUESSED, b"late", AFTER)
    moodle(course, ("x.ipynb", FIRST, NOON), *both)
    assert guessed(course) == b"in time"


def test_what_canvas_calls_late_is_late_beside_a_notebook_in_time_too(course):
    late = "lovelaceada_LATE_11_900_predictions.txt"
    files = {"lovelaceada_11_101_x.ipynb": FIRST, late: b"late"}
    collect(course, files, "canvas", "--lesson", LESSON)
    assert guessed(course) is None
    assert "too late" in reasons(course)[late][0]


def test_an_extension_counts_for_predictions_as_well(course):
    (course.folder / "more.csv").write_text(f"lesson,due,student\n{LESSON},2026-12-20,ada\n")
    assert main(["deadlines", "more.csv"]) == 0
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"extended", AFTER))
    assert guessed(course) == b"extended"


def test_predictions_that_came_with_a_late_notebook_count(course):
    minute = timedelta(minutes=1)
    moodle(course, ("x.ipynb", FIRST, AFTER), (GUESSED, b"with it", AFTER + minute))
    assert guessed(course) == b"with it"
    assert time_of(course, "ada") == AFTER.replace(tzinfo=None)


def test_a_students_link_in_the_place_of_predictions_is_not_followed(course):
    moodle(course, ("x.ipynb", FIRST, NOON))
    place = course.folder / "submitted" / "ada" / LESSON
    for name in (GUESSED, f".{GUESSED}.new"):
        (place / name).symlink_to(course.folder / "elsewhere")
    moodle(course, ("x.ipynb", FIRST, NOON), (GUESSED, b"one", NOON))
    assert not (course.folder / "elsewhere").exists()
    assert guessed(course) == b"one"

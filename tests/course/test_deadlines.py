"""Due dates, extensions and late penalties, against nbgrader's own engine."""

import csv
import shutil
import time
from dataclasses import replace
from datetime import timedelta

import nbformat
import pytest
from nbgrader.preprocessors import AssignLatePenalties

from grader.calendar.deadlines import (
    Row,
    as_utc,
    deadlines,
    keep_waiting,
    read_rows,
    set_deadlines,
    waiting_extensions,
)
from grader.calendar.penalties import settle
from grader.cli import main
from grader.course.course import GradingCourse
from grader.course.report import table
from grader.errors import CourseError, UsageError
from grader.judging.outcome import Status, without_run
from grader.nbgrader_plugins.export import StatusExportPlugin
from grader.recording.graded import Graded
from grader.recording.recording import record
from tests.course.lesson_runs import ROOT, all_lessons
from utils.checks.exercise import Case
from utils.checks.verdict import CaseResult, Verdict

LESSON = all_lessons()["00_start_here"]
NAMES = list(all_lessons())
DUE = as_utc("2026-12-01 12:00+00:00")
HANDED_IN = {"early": "11:00:00", "a second late": "12:00:01", "an hour late": "13:00:00"}


def right(lesson):
    """Every exercise with full points."""
    blank = without_run(lesson, Status.GRADED, "")
    whole = (CaseResult(Case("a"), None),)
    results = [
        replace(r, verdict=Verdict(r.exercise, whole, points=r.points)) for r in blank.results
    ]
    return replace(blank, results=tuple(results), notes=())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A course whose gradebook has the lesson, made once: nbgrader takes its time."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("recorded"))
    course.record(LESSON)
    return course.folder


@pytest.fixture
def course(recorded, tmp_path):
    """Three who handed in around noon of the first, and one on the sixth at noon."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    course = GradingCourse(ROOT, tmp_path)
    times = {name: f"2026-12-01 {time}" for name, time in HANDED_IN.items()}
    times["five days late"] = "2026-12-06 12:00:00"
    record(
        course,
        [Graded(s, LESSON, b"", right(LESSON), f"{when} UTC") for s, when in times.items()],
    )
    return course


def totals(course):
    return {row.student: row.total for row in course.book().of(LESSON.name)}


def by_nbgrader(course, student):
    """The student's score after nbgrader's own step."""
    about = {
        "notebook": LESSON.name,
        "assignment": LESSON.name,
        "student": student,
        "db_url": course.config.CourseDirectory.db_url,
    }
    step = AssignLatePenalties(config=course.config)
    step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": about})
    return totals(course)[student]


def test_scores_after_penalties_are_nbgraders_own(course):
    set_deadlines(course, [Row(LESSON.name, DUE)])
    assert settle(course, is_backed_up=True) == 3
    found = totals(course)
    full = LESSON.points
    assert found == pytest.approx(
        {
            "early": full,
            "a second late": 0.9 * full,
            "an hour late": 0.9 * full,
            "five days late": 0.5 * full,
        }
    )
    for student, total in found.items():
        assert by_nbgrader(course, student) == pytest.approx(total), student
    assert settle(course, is_backed_up=True) == 0


def test_an_extension_granted_later_takes_the_penalty_back(course):
    set_deadlines(course, [Row(LESSON.name, DUE)])
    settle(course, is_backed_up=True)
    set_deadlines(course, [Row(LESSON.name, DUE + timedelta(days=4), "five days late")])
    assert settle(course, is_backed_up=True) == 1
    assert totals(course)["five days late"] == pytest.approx(0.9 * LESSON.points)
    assert by_nbgrader(course, "five days late") == pytest.approx(0.9 * LESSON.points)
    set_deadlines(course, [Row(LESSON.name, None, "five days late")])
    settle(course, is_backed_up=True)
    assert totals(course)["five days late"] == pytest.approx(0.5 * LESSON.points)


def test_an_extension_granted_before_the_submission_waits_for_it(course):
    rows_ = [Row(LESSON.name, DUE), Row(LESSON.name, DUE + timedelta(days=1), "zoe")]
    assert set_deadlines(course, rows_) == ["zoe"]
    assert rows_[1] in deadlines(course, course.book())
    record(course, [Graded("zoe", LESSON, b"", right(LESSON), "2026-12-02 11:00:00 UTC")])
    settle(course, is_backed_up=True)
    assert totals(course)["zoe"] == LESSON.points
    assert rows_[1] in deadlines(course, course.book())


def test_an_extension_that_a_killed_run_had_entered_does_not_come_again(course):
    set_deadlines(course, [Row(LESSON.name, DUE), Row(LESSON.name, DUE + timedelta(days=9), "zoe")])
    left = waiting_extensions(course)
    record(course, [Graded("zoe", LESSON, b"", right(LESSON), "2026-12-02 11:00:00 UTC")])
    settle(course, is_backed_up=True)
    keep_waiting(course, left)  # as it was before the file was written
    set_deadlines(course, [Row(LESSON.name, None, "zoe")])
    settle(course, is_backed_up=True)
    assert deadlines(course, course.book())[0] == Row(LESSON.name, DUE)
    assert "zoe" not in {row.student for row in deadlines(course, course.book())}


def test_without_its_due_date_a_lesson_has_no_late_ones(course):
    set_deadlines(course, [Row(LESSON.name, DUE), Row(LESSON.name, DUE, "an hour late")])
    settle(course, is_backed_up=True)
    set_deadlines(course, [Row(LESSON.name, None)])
    settle(course, is_backed_up=True)
    assert set(totals(course).values()) == {LESSON.points}
    assert deadlines(course, course.book())[0] == Row(LESSON.name, None)


def test_a_score_changed_by_hand_changes_its_penalty(course):
    set_deadlines(course, [Row(LESSON.name, DUE)])
    settle(course, is_backed_up=True)
    with course.gradebook() as gradebook:
        test = f"test_{LESSON.exercises[0].id}"
        grade = gradebook.find_grade(test, LESSON.name, LESSON.name, "an hour late")
        grade.manual_score = 0.0
        gradebook.db.commit()
    settle(course, is_backed_up=True)
    left = LESSON.points - LESSON.exercises[0].points
    assert totals(course)["an hour late"] == pytest.approx(0.9 * left)


def test_a_penalty_plugin_that_fails_is_named_and_changes_nothing(course, monkeypatch):
    set_deadlines(course, [Row(LESSON.name, DUE)])

    def fails(*_arguments):
        raise ZeroDivisionError("division by zero")

    name = "grader.nbgrader_plugins.late.PercentADay.late_submission_penalty"
    monkeypatch.setattr(name, fails)
    with pytest.raises(CourseError, match=r"PercentADay failed on .*ZeroDivisionError"):
        settle(course, is_backed_up=True)
    assert set(totals(course).values()) == {LESSON.points}


def test_lateness_is_in_the_table_and_in_the_export(course):
    set_deadlines(course, [Row(LESSON.name, DUE)])
    settle(course, is_backed_up=True)
    line = next(
        x for x in table(course.lessons, course.book()).splitlines() if x.startswith("an hour late")
    )
    assert "   1 hour late: -0.4" in line
    path = course.folder / "grades.csv"
    with course.gradebook() as gradebook:
        StatusExportPlugin(to=str(path)).export(gradebook)
    with path.open(newline="") as file:
        late = {row["student_id"]: float(row["seconds_late"]) for row in csv.DictReader(file)}
    assert late == {
        "early": 0,
        "a second late": 1,
        "an hour late": 3600,
        "five days late": 5 * 24 * 3600,
    }


def test_an_extension_without_a_due_date_is_told_and_nothing_is_changed(course):
    with pytest.raises(CourseError, match=r"no due date\. .*Nothing was changed"):
        set_deadlines(course, [Row(NAMES[1], DUE), Row(LESSON.name, DUE, "early")])
    assert {row.due for row in deadlines(course, course.book())} == {None}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lesson,when\n", "no columns lesson and due"),
        ("lesson,due\n00_start_her,2026-12-01\n", "row 2: .*Did you mean 00_start_here"),
        ("lesson,due\n00_start_here,tomorrow\n", "row 2: 'tomorrow' is no date"),
        ("lesson,due\n00_start_here,2026-02-30\n", "row 2: '2026-02-30' is no date"),
        ("lesson,due\n00_start_here,9999-12-31\n", "row 2: '9999-12-31' is not in the years 2000"),
        ("lesson,due\n00_start_here,2101-02-01\n", "to 2100. Correct the year"),
        ("lesson,due,student\n00_start_here,0001-01-01,ada\n", "row 2: '0001-01-01' is not in"),
    ],
)
def test_a_row_that_cannot_be_read_is_told_with_its_number(tmp_path, text, told):
    path = tmp_path / "due.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        read_rows(path, NAMES)


@pytest.mark.parametrize(
    "data",
    [
        b"Lesson;Due;Student\r\n00_start_here;2026-12-01;ada\r\n;;\r\n",
        b"sep=;\nlesson;due date;student_id\n00_start_here;2026-12-01;ada\n",
        "\ufefflesson\tdue\tstudent\n00_start_here\t2026-12-01\tada\n".encode("utf-16-le"),
        b" LESSON , due,student\n 00_start_here, 2026-12-01, ada\n",
    ],
)
def test_a_table_is_read_as_spreadsheets_and_hands_write_it(tmp_path, data):
    path = tmp_path / "due.csv"
    path.write_bytes(data)
    assert read_rows(path, NAMES) == [Row("00_start_here", as_utc("2026-12-01"), "ada")]


def test_a_day_alone_means_its_end_and_an_offset_counts(tmp_path):
    end = as_utc("2026-12-01")
    assert end - as_utc("2026-12-01 00:00") == timedelta(hours=23, minutes=59, seconds=59)
    assert as_utc("20261201") == as_utc("2026-W49-2") == end
    assert as_utc("2026-12-01 13:00+01:00") == DUE


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("2026-10-25 02:30", "2026-10-25 02:30+01:00"),
        ("2026-03-29 02:30", "2026-03-29 02:30+01:00"),
    ],
    ids=["twice", "left out"],
)
def test_a_time_that_clocks_show_twice_or_leave_out_is_the_later_one(monkeypatch, text, later):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    found = as_utc(text)
    monkeypatch.undo()
    time.tzset()
    assert found == as_utc(later)


def test_the_command_sets_what_a_file_says_and_shows_what_holds(tmp_path, monkeypatch, capsys):
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    for name in ("solutions", "notebooks", "utils"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "due.csv").write_text(
        "lesson,due,student\n00_start_here,2026-12-01 12:00+00:00,\n"
        "00_start_here,2026-12-02 12:00+00:00,zoe\n"
    )
    assert main(["deadlines", "due.csv"]) == 0
    assert "zoe. Their extensions wait" in capsys.readouterr().out
    assert main(["deadlines"]) == 0
    shown = capsys.readouterr().out
    assert "2026-12-01" in shown
    assert "zoe: 2026-12-02" in shown
    assert shown.count("no due date") == len(NAMES) - 1
    assert "write there:\n[due]\n00_start_here = 2026-12-01T" in shown
    wanted = "\n".join(shown.splitlines()[-2:])
    (tmp_path / "course.toml").write_text(wanted)
    assert main(["deadlines"]) == 0
    assert "write there" not in capsys.readouterr().out
    (tmp_path / "course.toml").write_text(wanted.replace("2026", "2027"))
    assert main(["deadlines"]) == 0
    assert "write there" in capsys.readouterr().out
    assert main(["deadlines", "nowhere.csv"]) == 2

"""What `make grade` and `deadlines` print of a run: warnings, failures and counts."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cli import main
from grader.commands import grade
from grader.course.course import GradingCourse
from grader.errors import PROGRAM
from grader.grading.batch import Run
from grader.judging.outcome import Status, Summary
from tests.unit.grader.lms.downloads import LESSON, small_course, with_grades

KEY = ("ada", LESSON)


@pytest.fixture
def course(tmp_path, monkeypatch) -> GradingCourse:
    """A small course with a hand-in, as the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submitted" / "ada" / LESSON).mkdir(parents=True)
    return small_course(tmp_path)


def engine(status: Status, score: float | None, *notes: str) -> Callable[..., Run]:
    """Stand in for the engine: one submission, graded so."""
    return lambda *_arguments: Run({KEY: Summary(status, score, notes, ())})


def test_with_nbgraders_engine_it_is_warned_that_students_code_has_the_instructors_rights(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "_by_nbgrader", lambda *_arguments: ([], []))
    assert main(["grade", "--engine", "nbgrader"]) == 0
    told = capsys.readouterr().err
    assert "Warning: --engine nbgrader runs submissions with your own rights" in told


def test_with_the_courses_engine_nothing_is_warned(course, monkeypatch, capsys):
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADED, 2.0))
    assert main(["grade"]) == 0
    assert "Warning" not in capsys.readouterr().err


def test_a_grader_error_is_told_with_where_its_reason_is_and_what_to_run(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADER_ERROR, None))
    assert main(["grade"]) == 1
    told = capsys.readouterr().out
    assert f"ada's {LESSON}: grader error, no score. Its feedback page has the reason;" in told
    assert "run make grade again." in told


def test_the_reason_of_a_grader_error_is_told_on_one_line(course, monkeypatch, capsys):
    reason = "The grader could not read it\x1b (Permission denied), so ... Whoever grades: ..."
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADER_ERROR, None, reason))
    assert main(["grade"]) == 1
    told = capsys.readouterr().out
    assert f"ada's {LESSON}: grader error, no score. The grader could not read it\\x1b (" in told
    assert "\x1b" not in told


def test_an_exchange_that_cannot_be_listed_is_told_and_what_is_there_is_graded(
    course, monkeypatch, capsys
):
    listed = Path.iterdir

    def refusing(path):
        if path.name == "inbound":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refusing)
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADED, 2.0))
    assert main(["grade"]) == 0
    told = capsys.readouterr().out
    assert "Nothing was collected from the exchange: " in told
    assert "inbound cannot be listed (Permission denied)." in told
    assert told.count("Nothing was collected") == 1
    assert "Graded 1 submission." in told


def test_one_submission_is_not_called_submissions(course, monkeypatch, capsys):
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADED, 2.0))
    assert main(["grade"]) == 0
    assert "Graded 1 submission." in capsys.readouterr().out


def test_one_due_date_is_not_called_rows(course, capsys):
    (course.folder / "due.csv").write_text(f"lesson,due\n{LESSON},2026-12-01\n")
    assert main(["deadlines", "due.csv"]) == 0
    told = capsys.readouterr().out
    assert "1 row set;" in told


def test_dates_that_students_are_shown_otherwise_are_told_with_what_to_write(course, capsys):
    (course.folder / "due.csv").write_text(f"lesson,due\n{LESSON},2026-12-01\n")
    (course.folder / "course.toml").write_text("")
    assert main(["deadlines", "due.csv"]) == 0
    told = capsys.readouterr().out
    assert "Students are shown the dates in course.toml, which differ." in told


def test_a_hand_in_in_a_misspelt_lesson_is_told_beside_those_that_are_graded(
    course, monkeypatch, capsys
):
    (course.folder / "submitted" / "dora" / "01_dubling").mkdir(parents=True)
    monkeypatch.setattr(grade, "run_engine", engine(Status.GRADED, 2.0))
    assert main(["grade"]) == 0
    told = capsys.readouterr().out
    assert "Needs a look:\n  not read: submitted/dora/01_dubling (no such lesson; did" in told


def test_a_hand_in_without_a_lessons_folder_is_told_where_there_is_no_other(course, capsys):
    (course.folder / "submitted" / "ada" / LESSON).rmdir()
    (course.folder / "submitted" / "ada" / f"{LESSON}.ipynb").touch()
    assert main(["grade"]) == 0
    told = capsys.readouterr().out
    assert f"not read: submitted/ada/{LESSON}.ipynb (its place is submitted/ada/{LESSON}/)" in told


def test_without_settings_it_is_told_where_to_make_the_file_that_shows_dates(course, capsys):
    (course.folder / "due.csv").write_text(f"lesson,due\n{LESSON},2026-12-01\n")
    assert main(["deadlines", "due.csv"]) == 0
    told = capsys.readouterr().out
    assert "Students are shown no dates: there is no course.toml. To show these,\n" in told
    assert f"make the file {course.folder / 'course.toml'} and write there:\n[due]\n" in told
    assert "which differ" not in told


def test_before_a_hand_in_the_folder_the_layout_and_collect_are_named(course, capsys):
    shutil.rmtree(course.folder / "submitted")
    assert main(["grade", LESSON]) == 0
    told = capsys.readouterr().out
    assert f"no hand-in is in {course.folder / 'submitted'}." in told
    assert f"submitted/NAME/LESSON/LESSON.ipynb, such as submitted/ada/{LESSON}/{LESSON}." in told
    assert f"{PROGRAM} collect canvas|moodle ZIP" in told


def test_before_a_hand_in_no_gradebook_is_made_to_look_into(course, capsys):
    shutil.rmtree(course.folder / "submitted")
    (course.folder / "gradebook.db").unlink()
    assert main(["grade"]) == 0
    assert "Nothing has been submitted yet" in capsys.readouterr().out
    assert not (course.folder / "gradebook.db").exists()


@pytest.mark.parametrize("state", ["is missing", "has none"])
def test_where_the_gradebook_has_hand_ins_and_their_folder_none_it_is_refused(
    course, capsys, state
):
    with course.gradebook() as gradebook:
        gradebook.add_student("ada")
    with_grades(course, {"ada": (3.0, 0.5)})
    shutil.rmtree(course.folder / "submitted")
    if state == "has none":
        (course.folder / "submitted").mkdir()
    assert main(["grade"]) == 1
    told = capsys.readouterr().err
    assert f"has 1 hand-in, but the folder {course.folder / 'submitted'} {state}. Put it" in told


def nothing_graded(*_arguments: object) -> Run:
    """Stand in for the engine where everything is graded already."""
    return Run()


def test_where_nothing_has_changed_the_option_that_grades_again_is_named(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "run_engine", nothing_graded)
    assert main(["grade"]) == 0
    told = capsys.readouterr().out
    assert "Graded 0 submissions. No hand-in has changed since it was graded; --regrade" in told


def test_where_nothing_chosen_is_handed_in_that_is_told_and_no_regrading(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "run_engine", nothing_graded)
    with course.gradebook() as gradebook:
        gradebook.add_student("ben")
    assert main(["grade", "--student", "ben"]) == 0
    told = capsys.readouterr().out
    assert "Graded 0 submissions. None of the lessons and students chosen has a hand-in." in told
    assert "--regrade" not in told


def test_what_nbgraders_engine_graded_is_told_once_and_not_as_unchanged(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "run_engine", lambda *_arguments: Run(left=[KEY]))
    assert main(["grade"]) == 0
    told = capsys.readouterr().out
    assert "Graded 0 submissions.\n1 graded by nbgrader's own engine are left" in told


def test_a_release_of_no_page_sends_nobody_to_fetch_one(course, capsys):
    assert main(["release"]) == 0
    told = capsys.readouterr().out
    assert told == f"No feedback was released.\nNot graded yet: ada's {LESSON}. Run make grade.\n"

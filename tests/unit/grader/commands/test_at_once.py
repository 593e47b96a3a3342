"""Commands beside one another, and after one that was killed: nothing half done is shown."""

from argparse import Namespace
from datetime import timedelta

import pytest

from grader.commands import collect, grade, release, report
from grader.course.course import GradingCourse
from grader.course.graded_copies import NOT_ENTERED
from grader.errors import CourseError
from grader.gradebook.lock import only_grader
from grader.grading.batch import Run
from grader.pages.feedback import write_feedback
from tests.unit.grader.lms.downloads import Item, notebook, small_course, write_zip
from tests.unit.grader.pages.graded_class import DUE, LESSON

CHOICE = {"lesson": [], "student": []}


@pytest.fixture
def graded(made, monkeypatch):
    """A class in which ada is graded; commands find it wherever they are run."""
    folder = made.course.folder
    (folder / "submitted" / "ada" / LESSON).mkdir(parents=True)
    made.add("ada", when=DUE + timedelta(days=1))
    for module in (grade, release, report):
        monkeypatch.setattr(module, "find_root", lambda _: folder)
        monkeypatch.setattr(module, "GradingCourse", lambda *_: made.course)
    return made


def test_a_copy_whose_scores_a_killed_run_had_not_entered_is_not_handed_back(graded, capsys):
    write_feedback(graded.course, [("ada", LESSON)], graded.course.book())
    before = graded.page("ada").read_bytes()
    (graded.add("ada", status="crashed").parent / NOT_ENTERED).touch()
    assert release.run(Namespace(**CHOICE)) == 0
    assert f"Not graded yet: ada's {LESSON}. Run make grade." in capsys.readouterr().out
    assert graded.page("ada").read_bytes() == before


def test_a_late_penalty_that_a_killed_run_had_not_set_is_on_the_page_that_is_handed_back(graded):
    assert release.run(Namespace(**CHOICE)) == 0
    assert "1 day late: 2" in graded.page("ada").read_text(encoding="utf-8")


def test_nothing_is_handed_back_collected_or_reported_while_another_grader_is_at_work(
    graded, monkeypatch
):
    done = []
    monkeypatch.setattr(grade, "collect", lambda *_: done.append("collected"))
    with only_grader(graded.course.folder, graded.course.db_url):
        for run in (release.run, grade.run, report.run):
            with pytest.raises(CourseError, match="Another grader is at work"):
                run(Namespace(**CHOICE))
    assert done == []
    assert not graded.page("ada").exists()
    assert not (graded.course.folder / "report").exists()


def test_pages_are_written_while_no_other_grader_may_change_what_they_show(graded, monkeypatch):
    def write(course: GradingCourse, *_: object) -> None:
        with (
            pytest.raises(CourseError, match="Another grader is at work"),
            only_grader(course.folder, course.db_url),
        ):
            pass

    monkeypatch.setattr(grade, "write_feedback", write)
    monkeypatch.setattr(grade, "run_engine", lambda *_: Run())
    assert grade.grade(graded.course, [], Namespace(engine="fast")) == 0


def test_no_download_is_taken_while_another_grader_reads_hand_ins(tmp_path, monkeypatch):
    course = small_course(tmp_path)
    monkeypatch.chdir(tmp_path)
    download = write_zip(tmp_path / "x.zip", {"ada_11_22_a.ipynb": Item(notebook())})
    asked = {"system": "canvas", "zip": download, "lesson": None, "roster": None}
    with (
        only_grader(course.folder, course.db_url),
        pytest.raises(CourseError, match="Another grader is at work"),
    ):
        collect.run(Namespace(**asked))

"""The loop closes: submitted, collected, graded, released, fetched, by nbgrader's own steps."""

import shutil
import stat

import pytest

from grader.cli import main
from tests.course.handing_in import step, submit
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = all_lessons()["00_start_here"]
pytestmark = pytest.mark.usefixtures("one_fork_server")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A course of its own, whose gradebook lies elsewhere by nbgrader's setting."""
    folder = tmp_path_factory.mktemp("course")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "grades.db"
    config = (ROOT / "nbgrader_config.py").read_text()
    (folder / "nbgrader_config.py").write_text(
        f"{config}\nc.CourseDirectory.db_url = 'sqlite:///{elsewhere}'\n"
    )
    for name in ("solutions", "notebooks", "utils"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def submitted(folder):
    """A learner's right answers, submitted."""
    submit(folder, LESSON)
    return folder


# nbgrader's own release leaves a file to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_page_comes_back_to_the_student_by_nbgraders_own_fetch(
    submitted, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    assert main(["grade", LESSON.name, "--jobs", "1"]) == 0
    (student,) = [path.name for path in (folder / "submitted").iterdir()]
    assert main(["release"]) == 0
    assert "Feedback released: 1 page." in capsys.readouterr().out
    step(folder, LESSON, "FetchFeedback")
    (fetched,) = (folder / "learn" / LESSON.name / "feedback").glob(f"*/{LESSON.name}.html")
    page = folder / "feedback" / student / LESSON.name / f"{LESSON.name}.html"
    assert fetched.read_bytes() == page.read_bytes()
    fetched.unlink()

    handed_otherwise(folder)
    step(folder, LESSON, "ReleaseFeedback")  # formgrader's button: who has no secret stops nobody
    step(folder, LESSON, "FetchFeedback")
    assert fetched.is_file()

    assert not (folder / "gradebook.db").exists()
    report = (folder / "report" / "grades.txt").read_text()
    assert f"{LESSON.points:g} of {LESSON.points:g}" in report
    assert stat.S_IMODE((folder / "report").stat().st_mode) == 0o700

    capsys.readouterr()
    assert main(["grade", "00_start_her"]) == 2
    assert "Did you mean 00_start_here?" in capsys.readouterr().err
    assert main(["grade", "--student", f"{student}x"]) == 2
    assert f"Did you mean {student}?" in capsys.readouterr().err
    assert main(["release", "--student", "a-by-mail"]) == 0
    assert "not handed back there: a-by-mail's 00_start_here" in capsys.readouterr().out


def handed_otherwise(folder):
    """A submission without nbgrader's secret, graded; its name comes first."""
    for part in ("submitted", "autograded", "feedback"):
        (student,) = [path.name for path in (folder / part).iterdir()]
        there = folder / part / "a-by-mail" / LESSON.name
        shutil.copytree(folder / part / student / LESSON.name, there)
        (there / "submission_secret.txt").unlink(missing_ok=True)

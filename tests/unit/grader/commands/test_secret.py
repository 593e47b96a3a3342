"""The command that makes a class's secret, and another if it leaked."""

import re
import stat
from pathlib import Path

import pytest

from grader.cli import main
from grader.course.course import GradingCourse
from grader.course.secret import FILE, VARIABLE, course_secret
from grader.judging.judged_by import judged_by
from tests.course.lesson_runs import ROOT
from tests.unit.grader.lms.downloads import small_course

PHRASE = "attention is all you need"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    small_course(tmp_path)
    return tmp_path


def test_it_is_32_bytes_that_its_owner_alone_reads_and_grading_takes_it(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["secret"]) == 0
    assert re.fullmatch("[0-9a-f]{64}\n", (course / FILE).read_text())
    assert stat.S_IMODE((course / FILE).stat().st_mode) == 0o600
    assert course_secret(course) == (course / FILE).read_text().strip()
    assert "give every instructor's clone the same one" in capsys.readouterr().out


def test_no_two_are_alike(course: Path) -> None:
    found = set()
    for _ in range(5):
        assert main(["secret", "--replace"]) == 0
        found.add((course / FILE).read_text())
    assert len(found) == 5


@pytest.mark.parametrize("before", ["ab" * 32, PHRASE, ""])
def test_one_that_is_there_stays_unless_it_is_to_be_replaced(
    course: Path, capsys: pytest.CaptureFixture[str], before: str
) -> None:
    (course / FILE).write_text(before)
    assert main(["secret"]) == 1
    assert "secret --replace" in capsys.readouterr().err
    assert (course / FILE).read_text() == before
    assert main(["secret", "--replace"]) == 0
    assert (course / FILE).read_text() != before
    assert stat.S_IMODE((course / FILE).stat().st_mode) == 0o600
    told = capsys.readouterr().out
    assert "says who gained and who lost" in told
    assert "Scores and comments by hand stay" in told


def judges(course: Path) -> list[dict[str, str]]:
    """What judges each lesson of the course by the secret of this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, course_secret(course))
        return [judged_by(lesson) for lesson in GradingCourse(ROOT, course).lessons]


def test_with_another_one_every_lesson_is_judged_anew(course: Path) -> None:
    main(["secret"])
    first = judges(course)
    assert judges(course) == first
    main(["secret", "--replace"])
    for before, after in zip(first, judges(course), strict=True):
        assert before != after


def test_where_the_variable_holds_it_no_file_is_written(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, PHRASE)
    assert main(["secret"]) == 1
    assert f"unset {VARIABLE}" in capsys.readouterr().err
    assert not (course / FILE).exists()

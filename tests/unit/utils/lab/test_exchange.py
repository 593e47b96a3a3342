"""Releasing into the local exchange and fetching from it, as `make lab` does at every start."""

import json
import stat
import sys
from pathlib import Path

import pytest

from tests.unit.utils.lab.conftest import LESSONS, write_lesson
from utils.lab.exchange import COURSE_ID, Course, prepare, release
from utils.lab.settings import FILE
from utils.progress.record import Record, read, write


def notebook_of(course: Course, lesson: str) -> Path:
    return course.learn / lesson / f"{lesson}.ipynb"


def test_the_first_start_copies_every_lesson(course: Course) -> None:
    lines = prepare(course)
    assert [line.split(":")[0] for line in lines] == LESSONS
    for lesson in LESSONS:
        shipped = course.source(lesson) / f"{lesson}.ipynb"
        assert notebook_of(course, lesson).read_bytes() == shipped.read_bytes()


def test_the_exchange_has_nbgraders_layout_and_modes(course: Course) -> None:
    prepare(course)
    assert stat.S_IMODE(course.exchange.stat().st_mode) == 0o777
    assert (course.exchange / COURSE_ID / "inbound").is_dir()
    assert course.released(LESSONS[1]).joinpath(f"{LESSONS[1]}.ipynb").is_file()


def test_a_second_start_changes_and_says_nothing(course: Course) -> None:
    prepare(course)
    before = {path: path.stat().st_mtime_ns for path in course.learn.glob("*/*")}
    assert prepare(course) == []
    assert {path: path.stat().st_mtime_ns for path in course.learn.glob("*/*")} == before


def test_edited_work_is_never_overwritten(course: Course) -> None:
    prepare(course)
    mine = notebook_of(course, LESSONS[0])
    mine.write_text("my work")
    write_lesson(course, LESSONS[0], "2 + 2")
    prepare(course)
    assert mine.read_text() == "my work"


def test_a_newer_release_is_told_at_every_start_and_reaches_the_exchange(course: Course) -> None:
    prepare(course)
    write_lesson(course, LESSONS[1], "2 + 2")
    for _ in range(2):
        (line,) = prepare(course)
        assert line.startswith(f"{LESSONS[1]}: a newer version is out")
    assert "2 + 2" in (course.released(LESSONS[1]) / f"{LESSONS[1]}.ipynb").read_text()


def test_renaming_ones_folder_fetches_the_newest_release(course: Course) -> None:
    prepare(course)
    write_lesson(course, LESSONS[0], "2 + 2")
    (course.learn / LESSONS[0]).rename(course.learn / "mine")
    (line,) = prepare(course)
    assert line == f"{LESSONS[0]}: your copy is in learn/{LESSONS[0]}"
    assert "2 + 2" in notebook_of(course, LESSONS[0]).read_text()
    assert prepare(course) == []


def test_a_deleted_notebook_comes_back_and_other_files_stay(course: Course) -> None:
    prepare(course)
    notebook_of(course, LESSONS[0]).unlink()
    notes = course.learn / LESSONS[0] / "notes.txt"
    notes.write_text("mine")
    prepare(course)
    assert notebook_of(course, LESSONS[0]).is_file()
    assert notes.read_text() == "mine"


def test_a_lesson_added_later_is_copied(course: Course) -> None:
    prepare(course)
    write_lesson(course, "02_third", "3")
    (line,) = prepare(course)
    assert line.startswith("02_third:")


@pytest.mark.parametrize("note", ["{not json", "[]", "null", ""])
def test_a_damaged_note_of_what_was_fetched_is_made_anew(course: Course, note: str) -> None:
    prepare(course)
    noted = course.learn / ".releases.json"
    noted.write_text(note)
    assert prepare(course) == []
    assert json.loads(noted.read_text()).keys() == set(LESSONS)


def test_checkpoints_in_the_shipped_folder_are_not_a_newer_release(course: Course) -> None:
    prepare(course)
    checkpoints = course.source(LESSONS[0]) / ".ipynb_checkpoints"
    checkpoints.mkdir()
    (checkpoints / "00_first-checkpoint.ipynb").write_text("{}")
    assert prepare(course) == []


def test_without_an_exchange_lessons_are_still_copied(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    prepare(course)
    assert notebook_of(course, LESSONS[1]).is_file()
    assert not course.exchange.exists()


@pytest.fixture
def shared(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the class shares, in the settings of the course."""
    folder = tmp_path_factory.mktemp("shared")
    (course.root / FILE).write_text(f'submit = "{folder}"\n')
    return folder


def test_nothing_is_released_into_a_shared_exchange_by_a_learner(
    course: Course, shared: Path
) -> None:
    prepare(course)
    assert notebook_of(course, LESSONS[1]).is_file()
    assert list(shared.iterdir()) == []
    assert not (course.private / "exchange").exists()


def test_an_instructor_releases_into_a_shared_exchange_what_is_new(
    course: Course, shared: Path
) -> None:
    shared.chmod(0o777)
    assert release(course, LESSONS[0])
    assert (shared / COURSE_ID / "outbound" / LESSONS[0] / f"{LESSONS[0]}.ipynb").is_file()
    assert not release(course, LESSONS[0])


def test_a_fresh_copy_starts_without_the_progress_of_the_one_before(course: Course) -> None:
    prepare(course)
    passed = Record(checked=1.0, passed=True, started=True, cell=None, last_passed=1.0)
    for lesson in LESSONS:
        write(course.learn, lesson, "double", passed)
    (course.learn / LESSONS[0]).rename(course.learn / "mine")
    prepare(course)
    assert read(course.learn, LESSONS[0], "double") is None
    assert read(course.learn, LESSONS[1], "double") == passed

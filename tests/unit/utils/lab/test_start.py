"""What `make lab` hands to JupyterLab, for each way to hand in."""

import json
import os
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager
from jupyterlab_server.config import get_federated_extensions

from utils.lab import start
from utils.lab.exchange import COURSE_ID, Course, prepare
from utils.lab.settings import FILE

SUBMITS = ("@jupyter/nbgrader:assignment-list", "@jupyter/nbgrader:menu")


def disabled(course: Course) -> dict[str, bool]:
    text = (start.write_settings(course) / "labconfig" / "page_config.json").read_text()
    found: dict[str, bool] = json.loads(text)["disabledExtensions"]
    return found


def test_the_labs_settings_send_nbgrader_to_this_courses_exchange(course: Course) -> None:
    text = (start.write_settings(course) / "nbgrader_config.py").read_text()
    assert f"c.Exchange.root = {str(course.exchange)!r}" in text
    assert f"c.Exchange.assignment_dir = {str(course.learn)!r}" in text
    assert f"c.CourseDirectory.course_id = {COURSE_ID!r}" in text


def test_the_labs_settings_send_nbgrader_to_the_classs_exchange(
    course: Course, tmp_path: Path
) -> None:
    (course.root / FILE).write_text(f'submit = "{tmp_path / "of the class"}"')
    text = (start.write_settings(course) / "nbgrader_config.py").read_text()
    assert f"c.Exchange.root = {str(tmp_path / 'of the class')!r}" in text
    assert not set(SUBMITS) & disabled(course).keys()


def test_where_work_is_uploaded_jupyterlab_offers_no_submit(course: Course) -> None:
    assert not set(SUBMITS) & disabled(course).keys()
    (course.root / FILE).write_text('submit = "Moodle"')
    assert disabled(Course(course.root)).items() >= dict.fromkeys(SUBMITS, True).items()


def test_beside_the_grader_submit_stays_where_students_upload(course: Course) -> None:
    (course.root / FILE).write_text('submit = "Moodle"')
    (course.root / "grader").mkdir()
    assert not set(SUBMITS) & disabled(course).keys()


def test_on_windows_jupyterlab_offers_no_submit(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert disabled(course).items() >= dict.fromkeys(SUBMITS, True).items()


def test_every_start_opens_the_start_page(course: Course) -> None:
    prepare(course)
    assert "--LabApp.default_url=/lab/tree/Start.md" in start.lab_options(course, [])


def test_the_callers_options_come_last(course: Course) -> None:
    prepare(course)
    assert start.lab_options(course, ["--port", "8899"])[-2:] == ["--port", "8899"]


@pytest.fixture
def launched(with_exercises: Course, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What JupyterLab was started with, which does not start; the course is the small one."""
    calls: list[list[str]] = []
    monkeypatch.setattr(start.LabApp, "launch_instance", calls.append)
    monkeypatch.setattr(start, "Course", lambda _root: with_exercises)
    monkeypatch.setattr(start.offline, "offer", lambda: "what can be fetched")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setenv("PYTHONPATH", "/some/where")
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.setattr(sys, "prefix", str(with_exercises.root / "environment"))
    return calls


def test_a_start_writes_the_page_and_says_where_the_copies_are(
    launched: list[list[str]], with_exercises: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    start.main(["--port=1"])
    assert (with_exercises.learn / "Start.md").read_text().startswith("# ")
    assert launched[0][-1] == "--port=1"
    assert os.environ["PYTHONPATH"] == f"{with_exercises.root}{os.pathsep}/some/where"
    assert capsys.readouterr().out.splitlines() == [
        "00_first: your copy is in learn/00_first",
        "01_second: your copy is in learn/01_second",
        "what can be fetched",
    ]
    start.main([])
    assert capsys.readouterr().out == ""


def test_a_start_switches_nbgraders_extensions_off_and_guards_kernels(
    launched: list[list[str]], with_exercises: Course, tmp_path: Path
) -> None:
    start.main([])
    assert os.environ["PYTHONSAFEPATH"] == "1"
    found = ExtensionConfigManager(read_config_path=jupyter_config_path())
    on = {name for name, is_on in found.get_jpserver_extensions().items() if is_on}
    assert not {name for name in on if name.startswith("nbgrader")}
    assert "utils.lab.assignments" in on
    assert "jupyterlab_jupytext" not in on


@pytest.mark.parametrize("has_nbgrader", [True, False])
def test_a_start_writes_into_an_environment_beside_nbgraders_file_alone(
    launched: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    has_nbgrader: bool,
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    settings = tmp_path / "environment" / "etc" / "jupyter" / start.SWITCHED.parent
    settings.mkdir(parents=True)
    if has_nbgrader:
        (settings / "nbgrader.json").write_text("{}")
    start.main([])
    written = settings / start.SWITCHED.name
    assert written.exists() == has_nbgrader
    if has_nbgrader:
        assert written.read_bytes() == start.SERVER_EXTENSIONS.read_bytes()  # as setup.sh compares


def test_a_start_says_what_to_upload_and_where(
    launched: list[list[str]], with_exercises: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    (with_exercises.root / FILE).write_text('submit = "Moodle, below Lesson 1"')
    start.main([])
    last = capsys.readouterr().out.splitlines()[-1]
    file = with_exercises.learn / "LESSON" / "LESSON.ipynb"
    assert last == (f"To hand in a lesson, upload its notebook, {file}, to: Moodle, below Lesson 1")


def test_settings_that_cannot_be_used_stop_the_start_with_a_sentence(
    launched: list[list[str]], with_exercises: Course
) -> None:
    (with_exercises.root / FILE).write_text("submit = [1]")
    with pytest.raises(SystemExit, match="submit must be a folder's path or a text"):
        start.main([])
    assert launched == []


@pytest.mark.parametrize("name", ["course-lessons", "course-links", "course-pictures"])
def test_jupyterlab_finds_the_courses_extensions(name: str, course: Course) -> None:
    found = get_federated_extensions([str(start.EXTENSIONS)])[name]
    build = found["jupyterlab"]["_build"]
    assert Path(found["ext_path"], build["load"]).is_file()
    assert f"--LabApp.extra_labextensions_path={start.EXTENSIONS}" in start.lab_options(course, [])

"""A student's bundle, made by the command and unzipped: where its Submit goes, or what it says."""

import shutil
import zipfile
from pathlib import Path

import pytest

from grader.bundle.pack import NAME
from grader.cli import main
from grader.commands.grade import collect
from grader.course.course import GradingCourse
from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import choose, element, running_lab, texts, wait_for_start_page
from tests.unit.grader.bundle.test_pack import clone  # noqa: F401 (a fixture)
from utils.lab.exchange import COURSE_ID, Course

FIRST = "00_start_here"


class Class:
    """An instructor's clone with one setting, and the bundle that a student unzipped."""

    def __init__(self, clone: Path, folder: Path, setting: str) -> None:  # noqa: F811
        self.clone = shutil.copytree(clone, folder / "instructor")
        (self.clone / "course.toml").write_text(f"submit = {setting}\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.clone)
            assert main(["bundle"]) == 0
        with zipfile.ZipFile(self.clone / "dist" / f"{NAME}.zip") as zipped:
            zipped.extractall(folder / "student")
        self.student = Course(folder / "student" / NAME)


def test_submit_goes_to_the_exchange_of_the_one_setting_and_is_collected_there(
    chromium: str,
    clone: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    shared = tmp_path.resolve() / "exchange"
    shared.mkdir()
    shared.chmod(0o777)
    made = Class(clone, tmp_path.resolve(), f'"{shared}"')
    with running_lab(made.student) as address, Chrome(chromium, tmp_path / "profile") as page:
        page.open(address)
        wait_for_start_page(page)
        choose(page, "Nbgrader", "Assignment List")
        page.click(element("button", "Submit"))
        pattern = f"{COURSE_ID}/inbound/*+{FIRST}+*/{FIRST}.ipynb"
        (sent,) = wait_for(lambda: list(shared.glob(pattern)), "the hand-in")
    assert sent.read_bytes() == (made.student.learn / FIRST / f"{FIRST}.ipynb").read_bytes()
    assert not (made.student.private / "exchange").exists()
    collect(GradingCourse(made.clone, made.clone), [FIRST])
    (collected,) = made.clone.glob(f"submitted/*/{FIRST}/{FIRST}.ipynb")
    assert collected.read_bytes() == sent.read_bytes()


def test_where_students_upload_there_is_no_submit_and_the_page_says_where(
    chromium: str,
    clone: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    made = Class(clone, tmp_path.resolve(), '"Moodle, below Lesson 2"')
    with running_lab(made.student) as address, Chrome(chromium, tmp_path / "profile") as page:
        page.open(address)
        wait_for_start_page(page)
        page.wait(f"!!({element('.lm-MenuBar-item', 'Help')})")
        assert "Nbgrader" not in texts(page, ".lm-MenuBar-item")
        assert "Moodle, below Lesson 2" in texts(page, ".jp-MarkdownViewer strong")

"""An instructor's walk: grade what a learner submitted, then open formgrader by `make teach`.

The tests are steps of one walk and run in this order.
"""

from collections.abc import Iterator

import pytest

from grader.cli import main
from grader.commands.teach import BUTTON
from grader.course.sample_class import CLASS
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import (
    choose,
    copy_for_instructor,
    element,
    running_lab,
    texts,
)
from tests.course.handing_in import submit
from tests.course.lesson_runs import all_lessons
from utils.lab.exchange import Course

LESSON = all_lessons()["00_start_here"]
FRAME = "document.querySelector('iframe').contentDocument"


@pytest.fixture(scope="module")
def clone(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A clone in which a learner with a mistake has submitted."""
    course = copy_for_instructor(tmp_path_factory.mktemp("clone").resolve())
    submit(course.root, LESSON, CLASS["eve"])
    return course


@pytest.fixture(autouse=True)
def in_the_clone(clone: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone.root)


@pytest.fixture(scope="module")
def formgrader(
    chromium: str, clone: Course, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chrome]:
    """The browser, where `make teach` opens it."""
    with (
        running_lab(clone, "grader", "teach") as address,
        Chrome(chromium, tmp_path_factory.mktemp("teacher")) as page,
    ):
        page.open(address)
        yield page


def in_frame(page: Chrome, selector: str, text: str = "") -> str:
    """Wait for an element inside formgrader's frame; give JavaScript for it."""
    found = element(selector, text).replace("document.", f"{FRAME}.")
    page.wait(f"!!{FRAME} && !!({found})")
    return found


def test_grading_writes_a_page(clone: Course) -> None:
    assert main(["grade", LESSON.name, "--jobs", "1"]) == 0
    assert list((clone.root / "feedback").glob(f"*/{LESSON.name}/{LESSON.name}.html"))


def test_the_button_opens_formgrader_and_nothing_asks_a_question(formgrader: Chrome) -> None:
    formgrader.click(element("[data-command]", BUTTON))
    in_frame(formgrader, "a", LESSON.name)
    assert texts(formgrader, ".jp-Dialog") == []


def test_formgrader_is_in_the_menu_too(formgrader: Chrome) -> None:
    choose(formgrader, "Nbgrader", "Formgrader")
    in_frame(formgrader, "a", LESSON.name)

"""One JupyterLab and one browser for each module of tests."""

import os
from collections.abc import Iterator

import pytest

from grader.website.printing import find_chromium
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import copy_course, running_lab, wait_for_start_page
from utils.lab.exchange import Course

SKIP = "COURSE_BROWSER"


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program."""
    return require_chromium()


def require_chromium() -> str:
    """Give the browser's program. Without one a test fails, unless it is told to be skipped."""
    if os.environ.get(SKIP) == "skip":
        pytest.skip(f"{SKIP}=skip")
    if program := find_chromium():
        return program
    pytest.fail(
        "There is no Chromium or Chrome on this machine. Install one (Debian: apt install "
        f"chromium), or leave these tests out with {SKIP}=skip.",
        pytrace=False,
    )


@pytest.fixture(scope="module")
def course(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy of what students get."""
    return copy_course(tmp_path_factory.mktemp("course").resolve())


@pytest.fixture(scope="module")
def lab(course: Course) -> Iterator[str]:
    """The address of JupyterLab as `make lab` starts it."""
    with running_lab(course) as address:
        yield address


@pytest.fixture(scope="module")
def chrome(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that has opened nothing yet."""
    with Chrome(chromium, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def page(chromium: str, lab: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The browser, where `make lab` opens it."""
    with Chrome(chromium, tmp_path_factory.mktemp("profile")) as chrome:
        chrome.open(lab)
        wait_for_start_page(chrome)
        yield chrome

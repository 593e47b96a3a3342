"""The demo of a hub, started by an ordinary user: who is who, a student's lessons, the desk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.demo import INSTRUCTOR, PASSWORD, STUDENTS
from hub.settings import DESK_PREFIX
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import element, free_port, wait_for_start_page
from tests.browser.test_hub import log_in
from tests.course.hub_class import PORTS, HubClass, a_class, require_accounts, running_hub


@pytest.fixture(scope="module")
def address(chromium: str) -> Iterator[str]:
    """Where the demo of an ordinary user is, in a clone of that user."""
    port = free_port(PORTS)
    with a_class(require_accounts(), []) as made, running_hub(made, "demo", f"--port={port}"):
        assert_is_told(made)
        yield f"http://127.0.0.1:{port}"


def assert_is_told(made: HubClass) -> None:
    assert f"The password is {PASSWORD}" in made.log.read_text()


def test_the_login_page_says_who_is_who_and_a_student_finds_the_lessons(
    chromium: str, address: str, tmp_path: Path
) -> None:
    with Chrome(chromium, tmp_path / "student") as page:
        page.open(address)
        page.wait(f"document.body?.innerText?.includes({PASSWORD!r})")
        log_in(page, STUDENTS[0], PASSWORD)
        wait_for_start_page(page)
        assert page.run("location.pathname").startswith(f"/user/{STUDENTS[0]}/")


def test_the_instructor_comes_to_the_desk_with_its_page_open(
    chromium: str, address: str, tmp_path: Path
) -> None:
    with Chrome(chromium, tmp_path / "teacher") as page:
        page.open(address)
        page.wait(f"document.body?.innerText?.includes({PASSWORD!r})")
        log_in(page, INSTRUCTOR, PASSWORD)
        page.wait(f"location.pathname.startsWith({DESK_PREFIX + 'lab'!r})")
        page.wait(f"!!({element('.jp-MarkdownViewer h1', 'The grading desk')})")

"""The demo of a hub, started by an ordinary user: a password of its own, a student's lessons."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.demo import FOLDER, STUDENTS
from hub.machine import PORTS
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import free_port, wait_for_start_page
from tests.browser.test_hub import log_in, stays_out
from tests.course.hub_class import HubClass, a_class, require_accounts, running_hub

TOLD = re.compile(r"The password of this start is (\S{12,})$", re.MULTILINE)


@pytest.fixture(scope="module")
def demo(chromium: str) -> Iterator[tuple[HubClass, str]]:
    """The demo of an ordinary user, in a clone of that user, and its address."""
    port = free_port(PORTS)
    with a_class(require_accounts(), []) as made, running_hub(made, "demo", f"--port={port}"):
        yield made, f"http://127.0.0.1:{port}"


def test_nobody_gets_in_without_the_password_that_the_start_has_told(
    chromium: str, demo: tuple[HubClass, str], tmp_path: Path
) -> None:
    made, address = demo
    (password,) = TOLD.findall(made.log.read_text())
    with Chrome(chromium, tmp_path / "student") as page:
        page.open(address)
        page.wait(f"document.body?.innerText?.includes({STUDENTS[0]!r})")
        assert password not in page.run("document.body.innerText")
        for wrong in ("look-around", ""):
            stays_out(page, STUDENTS[0], wrong)
        log_in(page, STUDENTS[0], password)
        wait_for_start_page(page)
        assert page.run("location.pathname").startswith(f"/user/{STUDENTS[0]}/")


def test_other_accounts_of_the_machine_see_nothing_of_it(demo: tuple[HubClass, str]) -> None:
    made, _ = demo
    assert (made.clone / FOLDER).stat().st_mode & 0o077 == 0


def test_each_start_has_a_password_of_its_own(demo: tuple[HubClass, str]) -> None:
    made, _ = demo
    (first,) = TOLD.findall(made.log.read_text())
    process = made.start("demo", "--prepare", f"--port={free_port(PORTS)}")
    assert process.wait() == 0, made.log.read_text()
    (second,) = TOLD.findall(made.log.read_text())
    assert first != second

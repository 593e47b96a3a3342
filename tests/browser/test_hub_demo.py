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
def demo(chromium: str) -> Iterator[tuple[HubClass, str, list[str]]]:
    """The demo of an ordinary user, in a clone of that user; its address; its starts' passwords.

    It is prepared twice: each start makes its folder anew, which a hub that runs would miss.
    """
    port = free_port(PORTS)
    words = ("demo", f"--port={port}")
    with a_class(require_accounts(), []) as made:
        assert made.start(*words, "--prepare").wait() == 0, made.log.read_text()
        before = TOLD.findall(made.log.read_text())
        with running_hub(made, *words):
            told = TOLD.findall(made.log.read_text())
            yield made, f"http://127.0.0.1:{port}", [*before, *told]


def test_nobody_gets_in_without_the_password_that_the_start_has_told(
    chromium: str, demo: tuple[HubClass, str, list[str]], tmp_path: Path
) -> None:
    _, address, (*_, password) = demo
    with Chrome(chromium, tmp_path / "student") as page:
        page.open(address)
        page.wait(f"document.body?.innerText?.includes({STUDENTS[0]!r})")
        assert password not in page.run("document.body.innerText")
        for wrong in ("look-around", ""):
            stays_out(page, STUDENTS[0], wrong)
        log_in(page, STUDENTS[0], password)
        wait_for_start_page(page)
        assert page.run("location.pathname").startswith(f"/user/{STUDENTS[0]}/")


def test_other_accounts_of_the_machine_see_nothing_of_it(
    demo: tuple[HubClass, str, list[str]],
) -> None:
    made, *_ = demo
    assert (made.clone / FOLDER).stat().st_mode & 0o077 == 0


def test_each_start_has_a_password_of_its_own(demo: tuple[HubClass, str, list[str]]) -> None:
    *_, told = demo
    assert len(told) == len(set(told)) == 2

"""The learners' way in a real browser: JupyterLab opens the first lesson; a submission arrives."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chrome import Chrome, find_chromium, wait_for
from utils.exchange import Course

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "of-this-test-only"

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no Chromium or Chrome on this machine"
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy of what students get, so that nothing is written into the checkout."""
    root = tmp_path_factory.mktemp("course").resolve()
    for folder in ("notebooks", "utils"):
        shutil.copytree(ROOT / folder, root / folder)
    return Course(root)


@pytest.fixture(scope="module")
def lab(course: Course) -> Iterator[str]:
    """JupyterLab as `make lab` starts it; gives the address of its first page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    log = course.root / "lab.log"
    with log.open("w") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "utils.lab", *options],
            cwd=course.root,
            env=os.environ | {"HOME": str(course.root)},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: is_listening(port) or process.poll() is not None, "JupyterLab")
        assert process.poll() is None, log.read_text()
        first = course.lessons()[0]
        yield f"http://127.0.0.1:{port}/lab/tree/{first}/{first}.ipynb?token={TOKEN}"
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(scope="module")
def page(lab: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The browser, with the first lesson open."""
    program = find_chromium()
    assert program is not None
    with Chrome(program, tmp_path_factory.mktemp("profile")) as chrome:
        chrome.open(lab)
        chrome.wait("!!document.querySelector('.jp-CodeCell')")
        # Until the kernel answers, JupyterLab moves things about and runs nothing, silently. It
        # shows "idle" from the start; the count of kernels, first in the status bar, comes later.
        chrome.wait(
            "!!document.querySelector('[data-status=idle]') &&"
            " document.querySelector('#jp-main-statusbar').textContent.startsWith('1')"
        )
        yield chrome


def is_listening(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def element(selector: str, text: str) -> str:
    """JavaScript for the first element that a selector gives and whose text starts like this."""
    return (
        f"[...document.querySelectorAll('{selector}')]"
        f".find(found => found.textContent.trim().startsWith('{text}'))"
    )


def texts(page: Chrome, selector: str) -> list[str]:
    found: list[str] = page.run(
        f"[...document.querySelectorAll('{selector}')].map(found => found.textContent.trim())"
    )
    return found


def executed(notebook: Path) -> dict[str, Any] | None:
    """Give the first code cell, once it was executed and saved."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    cell: dict[str, Any] = next(cell for cell in cells if cell["cell_type"] == "code")
    return cell if cell["execution_count"] else None


def choose(page: Chrome, menu: str, item: str) -> None:
    page.click(element(".lm-MenuBar-item", menu))
    page.click(element(".lm-Menu-item", item))


def test_the_first_lesson_opens_and_nothing_asks_a_question(page: Chrome, course: Course) -> None:
    first = course.lessons()[0]
    tabs = texts(page, ".jp-NotebookPanel") and texts(page, ".lm-DockPanel-tabBar .lm-TabBar-tab")
    assert any(tab.startswith(first) for tab in tabs)
    assert texts(page, ".jp-Dialog") == []
    assert texts(page, ".Toastify__toast") == []


def test_the_file_list_shows_the_learners_copies_only(page: Chrome, course: Course) -> None:
    page.click("document.querySelector('.jp-BreadCrumbs-home')")
    lessons = course.lessons()
    wait_for(lambda: texts(page, ".jp-DirListing-itemName") == lessons, f"a list of {lessons}")


def test_a_cell_that_imports_the_courses_checks_runs(page: Chrome, course: Course) -> None:
    choose(page, "Run", "Run All Cells")
    # Only the cells in sight are in the page, so the saved notebook is what tells.
    page.wait(
        "[...document.querySelectorAll('.jp-InputPrompt')]"
        ".some(prompt => /^\\[\\d+\\]:$/.test(prompt.textContent))"
    )
    choose(page, "File", "Save Notebook")
    first = course.lessons()[0]
    cell = wait_for(lambda: executed(course.learn / first / f"{first}.ipynb"), "an executed cell")
    assert [output for output in cell["outputs"] if output["output_type"] == "error"] == []


def test_submitting_from_the_assignments_panel_puts_the_work_into_the_exchange(
    page: Chrome, course: Course
) -> None:
    choose(page, "Nbgrader", "Assignment List")
    page.wait(f"!!({element('button', 'Submit')})")
    assert len([text for text in texts(page, "button") if text == "Submit"]) == len(
        course.lessons()
    )
    page.click(element("button", "Submit"))
    first = course.lessons()[0]
    pattern = f"*/inbound/*+{first}+*/{first}.ipynb"
    submitted = wait_for(lambda: list(course.exchange.glob(pattern)), "the submission")
    assert submitted[0].read_bytes() == (course.learn / first / f"{first}.ipynb").read_bytes()
    page.wait(f"!!({element('button', 'Fetch Feedback')})")

"""JupyterLab as `make lab` starts it, on a copy of what students get, and the ways to use it."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.chrome import Chrome, wait_for
from utils.lab.exchange import Course
from utils.lab.guide import BUTTON

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "of-this-test-only"


def copy_course(root: Path) -> Course:
    """Copy what students get, so that nothing is written into the checkout."""
    return _copy(root, "notebooks", "utils")


def copy_for_instructor(root: Path) -> Course:
    """Copy what an instructor's clone holds, as far as grading needs it."""
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return _copy(root, "notebooks", "utils", "grader", "solutions")


def _copy(root: Path, *folders: str) -> Course:
    for folder in folders:
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Course(root)


@contextmanager
def running_lab(course: Course, *command: str) -> Iterator[str]:
    """Run JupyterLab on a course; gives the address that `make lab`, or a command, would open."""
    port = free_port()
    options = ["--no-browser", f"--port={port}"]
    log = course.root / "lab.log"
    with log.open("w") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", *(command or ("utils.lab",)), *options],
            cwd=course.root,
            env=os.environ | {"HOME": str(course.root), "JUPYTER_TOKEN": TOKEN},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: is_listening(port) or process.poll() is not None, "JupyterLab")
        assert process.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}/?token={TOKEN}"
    finally:
        process.terminate()
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:  # Jupyter's own end hangs at times on a busy machine
            process.kill()
            process.wait()


def free_port(in_a_row: int = 1) -> int:
    """Give the first of some ports that nobody listens on.

    They lie below those that the system gives to connections: such a one may be gone in a moment.
    """
    while True:
        first = random.SystemRandom().randrange(20_000, 32_000)
        if not any(map(is_listening, range(first, first + in_a_row))):
            return first


def is_listening(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def solution(lesson: str, exercise: str) -> str:
    """Give the course's own answer to an exercise."""
    text = (ROOT / "solutions" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
    cell = next(cell for cell in json.loads(text)["cells"] if cell["id"] == exercise)
    return "".join(cell["source"])


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


def choose(page: Chrome, menu: str, *items: str) -> None:
    """Choose an item of a menu, or of a menu within it."""
    page.click(element(".lm-MenuBar-item", menu))
    for item in items:
        page.click(element(".lm-Menu-item", item))


def to_start_page(page: Chrome) -> None:
    """Open the start page, up to date, with its button.

    JupyterLab draws a text anew a second after its last change; what is clicked before is gone.
    """
    page.click(element("[data-command]", BUTTON))
    page.wait("!!document.querySelector('.jp-MarkdownViewer:not(.lm-mod-hidden)')")
    time.sleep(2)


def edit(page: Chrome, beginning: str) -> None:
    """Put the cursor into the line of the notebook in sight that begins so."""
    line = element(".jp-NotebookPanel:not(.lm-mod-hidden) .cm-line", beginning)
    page.wait(f"!!({line})")
    place = f"{line}.getBoundingClientRect().y"

    def stays() -> bool:  # cells take their height as they come into sight, and move it away
        page.run(f"{line}.scrollIntoView({{block: 'center'}})")
        before = page.run(place)
        time.sleep(0.3)
        return bool(before == page.run(place))

    wait_for(stays, "the line in sight")
    page.click(line)


def wait_for_start_page(page: Chrome) -> None:
    page.wait("!!document.querySelector('.jp-MarkdownViewer table')")


def wait_for_kernel(page: Chrome) -> None:
    """Wait until the kernel answers: before, JupyterLab moves things about and runs nothing.

    It shows "idle" from the start; the count of kernels, first in the status bar, comes later.
    """
    page.wait(
        "!!document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell') &&"
        " !!document.querySelector('[data-status=idle]') &&"
        " /^[1-9]/.test(document.querySelector('#jp-main-statusbar').textContent)"
    )


def cells(notebook: Path) -> list[dict[str, Any]]:
    """Read a notebook's cells as they were saved; none while JupyterLab is writing them."""
    try:
        found: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except json.JSONDecodeError:
        return []
    return found

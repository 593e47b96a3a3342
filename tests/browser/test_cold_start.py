"""From a cold start to the first passed check: what a student does on the way is counted."""

from typing import Any

import pytest

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import edit, solution, texts, wait_for_kernel
from utils.lab.exchange import Course
from utils.progress.record import read

LESSON, EXERCISE = "00_start_here", "stable_softmax"
MOST = 10
BUTTON = "document.querySelector('.jp-MarkdownViewer a.course-button')"


@pytest.fixture
def actions(page: Chrome, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done with the mouse and the keyboard; a test notes its scrolling by itself."""
    done: list[str] = []

    def noting(name: str) -> None:
        method = getattr(page, name)

        def noted(*args: Any, **kwargs: Any) -> None:
            done.append(name)
            method(*args, **kwargs)

        monkeypatch.setattr(page, name, noted)

    for name in ("click", "press", "insert"):
        noting(name)
    return done


def test_the_first_check_passes_within_ten_actions(
    page: Chrome, course: Course, actions: list[str]
) -> None:
    page.click(BUTTON)
    wait_for_kernel(page)
    title = "document.querySelector('.jp-NotebookPanel h1').getBoundingClientRect().top"
    assert 0 < page.run(title) < page.run("innerHeight")  # it opens at its head
    actions.append("scroll")
    edit(page, f"def {EXERCISE}")
    page.press("a", control=True)
    page.insert(solution(LESSON, EXERCISE))
    page.press("Enter", shift=True)
    page.press("Enter", shift=True)
    record = wait_for(lambda: read(course.learn, LESSON, EXERCISE), "the check")
    assert record.passed
    assert len(actions) <= MOST, actions
    assert not [t for t in texts(page, ".jp-OutputArea-output") if "Error" in t]

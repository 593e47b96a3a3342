"""What JupyterLab does or refuses in silence is said at once, with what to do."""

import pytest

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import edit, element, texts, wait_for_kernel

TOAST = ".Toastify__toast"
EXERCISE = "pairwise_dot"
CELL = "[...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell')]"
ANSWER = f"{CELL}.find(cell => cell.textContent.includes('def {EXERCISE}'))"
TAB = element(".lm-DockPanel-tabBar .lm-TabBar-tab", "00_start_here")


def said(page: Chrome, text: str) -> None:
    wait_for(lambda: any(text in shown for shown in texts(page, TOAST)), text, seconds=60)


def dismiss(page: Chrome) -> None:
    page.run("document.querySelectorAll('.Toastify__close-button').forEach(b => b.click())")
    wait_for(lambda: not texts(page, TOAST), "no line in sight", seconds=60)


@pytest.fixture(scope="module")
def lesson(page: Chrome) -> Chrome:
    page.click(element(".jp-MarkdownViewer td a", "00"))
    wait_for_kernel(page)
    return page


@pytest.mark.parametrize("key", ["a", "Backspace", "Enter"])
def test_writing_into_a_locked_cell_says_where_to_write(lesson: Chrome, key: str) -> None:
    edit(lesson, f"check.{EXERCISE}")
    lesson.press(key)
    said(lesson, "This cell is the course's and stays as it is. Write in the cell above it")
    dismiss(lesson)


def test_running_a_locked_cell_or_moving_in_it_says_nothing(lesson: Chrome) -> None:
    edit(lesson, f"check.{EXERCISE}")
    for key in ("ArrowLeft", "Home"):
        lesson.press(key)
    lesson.press("Enter", shift=True)
    lesson.press("c", control=True)
    wait_for(lambda: texts(lesson, ".jp-OutputArea-output"), "the check")
    assert not [text for text in texts(lesson, TOAST) if "stays as it is" in text]


@pytest.mark.parametrize("keys", ["dd", "x"])
def test_deleting_a_cell_that_stays_says_why(lesson: Chrome, keys: str) -> None:
    edit(lesson, f"def {EXERCISE}")
    lesson.press("Escape")
    for key in keys:
        lesson.press(key)
    said(lesson, "This cell cannot be deleted")
    dismiss(lesson)
    assert lesson.run(f"!!({ANSWER})")


def test_deleting_ones_own_cell_above_a_locked_one_says_nothing(lesson: Chrome) -> None:
    edit(lesson, f"def {EXERCISE}")
    lesson.press("Escape")
    before = lesson.run(f"{CELL}.length")
    lesson.press("b")
    lesson.wait(f"{CELL}.length === {before + 1}")
    lesson.press("d")
    lesson.press("d")
    lesson.wait(f"{CELL}.length === {before}")
    assert not [text for text in texts(lesson, TOAST) if "cannot be deleted" in text]


def test_an_answer_turned_into_text_is_said_with_the_key_that_undoes_it(lesson: Chrome) -> None:
    edit(lesson, f"def {EXERCISE}")
    lesson.press("Escape")
    lesson.press("m")
    lesson.wait(f"({ANSWER}).classList.contains('jp-MarkdownCell')")
    said(lesson, f"Your answer {EXERCISE} is text now, and grading reads only code.")
    lesson.press("y")
    lesson.wait(f"({ANSWER}).classList.contains('jp-CodeCell')")
    wait_for(lambda: not texts(lesson, TOAST), "the line is gone", seconds=60)


def run_for_long(page: Chrome) -> None:
    edit(page, f"def {EXERCISE}")
    page.press("a", control=True)
    page.insert(f"import time\ndef {EXERCISE}(): ...\ntime.sleep(100)")
    page.press("Enter", shift=True)
    page.wait(f"({ANSWER}).textContent.includes('[*]')")


def leaves(page: Chrome) -> bool:
    """Whether the browser may leave the page without asking."""
    return bool(page.run("window.dispatchEvent(new Event('beforeunload', {cancelable: true}))"))


def test_closing_a_tab_whose_cell_runs_asks_first_and_can_be_called_off(lesson: Chrome) -> None:
    run_for_long(lesson)
    assert not leaves(lesson)
    lesson.click(f"({TAB}).querySelector('.lm-TabBar-tabCloseIcon')")
    lesson.wait(f"!!({element('.jp-Dialog', 'A cell is still running')})")
    assert "the output is lost" in texts(lesson, ".jp-Dialog")[0]
    lesson.click(element(".jp-Dialog button", "Stay"))
    lesson.wait("!document.querySelector('.jp-Dialog')")
    assert lesson.run(f"({ANSWER}).textContent.includes('[*]')")


def test_a_tab_closed_all_the_same_closes(lesson: Chrome) -> None:
    lesson.click(f"({TAB}).querySelector('.lm-TabBar-tabCloseIcon')")
    lesson.click(element(".jp-Dialog button", "Close and lose the output"))
    lesson.click(element(".jp-Dialog button", "Discard"))  # JupyterLab asks about the text, too
    lesson.wait(f"!({TAB})")

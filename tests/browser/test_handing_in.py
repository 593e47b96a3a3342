"""Submit sends what the tab shows, says what passes, and refuses a notebook that is not graded."""

from pathlib import Path

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    cells,
    choose,
    edit,
    element,
    solution,
    texts,
    to_start_page,
    wait_for_kernel,
)
from utils.lab.exchange import Course

LESSON, EXERCISE = "00_start_here", "pairwise_dot"
RIGHT = solution(LESSON, EXERCISE)
NAME = f"{LESSON}.ipynb"
SUBMIT = (
    "[...document.querySelectorAll('#fetched_assignments_list .list_item')].filter(item =>"
    f" item.textContent.includes('{LESSON}')).flatMap(item =>"
    " [...item.querySelectorAll('button')]).find(found => found.textContent === 'Submit')"
)
REFRESH = "document.querySelector('#refresh_assignments_list')"
DIALOG, TOAST = ".jp-Dialog", ".Toastify__toast"


def sent(course: Course) -> list[Path]:
    return sorted(course.exchange.glob(f"*/inbound/*+{LESSON}+*/{NAME}"))


def refused(page: Chrome, *said: str) -> None:
    """Wait for a dialog that says all of it, without a traceback, and close it."""
    shown = wait_for(lambda: [t for t in texts(page, DIALOG) if said[0] in t], said[0], seconds=60)
    assert all(text in shown[0] for text in said)
    assert "Traceback" not in shown[0]
    page.click("document.querySelector('.jp-Dialog .jp-mod-accept')")
    page.wait("!document.querySelector('.jp-Dialog')")


def test_submit_sends_what_the_tab_shows_and_says_how_many_exercises_pass(
    page: Chrome, course: Course
) -> None:
    to_start_page(page)
    page.click(element(".jp-MarkdownViewer td a", "00"))
    wait_for_kernel(page)
    edit(page, f"def {EXERCISE}")
    page.press("a", control=True)
    page.insert(RIGHT)
    page.press("Enter", shift=True)
    page.press("Enter", shift=True)
    wait_for(lambda: any("cases pass" in text for text in texts(page, ".jp-OutputArea")), "a pass")
    choose(page, "Nbgrader", "Assignment List")
    page.click(SUBMIT)
    (file,) = wait_for(lambda: sent(course), "the hand-in")
    assert any("".join(cell["source"]) == RIGHT for cell in cells(file))
    told = "00_start_here is handed in. 1 of 3 exercises pass. Not yet: stable_softmax"
    wait_for(lambda: any(told in text for text in texts(page, TOAST)), told)


def test_a_lesson_cannot_be_renamed_and_jupyterlab_says_why(page: Chrome, course: Course) -> None:
    page.click(element(".lm-DockPanel-tabBar .lm-TabBar-tab", LESSON))
    choose(page, "File", "Rename Notebook…")
    page.wait("!!document.querySelector('.jp-Dialog input')")
    page.press("a", control=True)
    page.insert("mine.ipynb")
    page.click("document.querySelector('.jp-Dialog .jp-mod-accept')")
    told = f"{NAME} keeps its name: Submit and grading need it"
    wait_for(lambda: any(told in text for text in texts(page, TOAST)), told, seconds=60)
    assert [path.name for path in (course.learn / LESSON).glob("*.ipynb")] == [NAME]


def test_a_notebook_renamed_elsewhere_is_refused_with_the_name_that_it_needs(
    page: Chrome, course: Course
) -> None:
    folder = course.learn / LESSON
    (folder / NAME).rename(folder / "mine.ipynb")
    before = len(sent(course))
    choose(page, "Nbgrader", "Assignment List")
    page.click(REFRESH)
    page.click(SUBMIT)
    refused(page, "Nothing was handed in", f"Rename mine.ipynb to {NAME}")
    assert len(sent(course)) == before


def test_the_start_page_says_how_to_undo_it_and_then_submit_works(
    page: Chrome, course: Course
) -> None:
    told = f"Rename mine.ipynb to {NAME}"
    to_start_page(page)
    wait_for(lambda: any(told in text for text in texts(page, ".jp-MarkdownViewer")), told)
    folder = course.learn / LESSON
    (folder / "mine.ipynb").rename(folder / NAME)
    before = len(sent(course))
    choose(page, "Nbgrader", "Assignment List")
    page.click(REFRESH)
    page.click(SUBMIT)
    wait_for(lambda: len(sent(course)) > before, "another hand-in")

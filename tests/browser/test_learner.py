"""A learner's walk through lesson 02: wrong, named, mended, passed, submitted, feedback read.

The tests are steps of one walk and run in this order.
"""

from pathlib import Path

from nbgrader.utils import notebook_hash

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    cells,
    choose,
    element,
    solution,
    texts,
    to_start_page,
    wait_for_kernel,
)
from tests.course.lesson_runs import all_lessons
from utils.lab.exchange import COURSE_ID, Course
from utils.progress.record import read

LESSON, EXERCISE = "02_attention", "additive_scores"
RIGHT = solution(LESSON, EXERCISE)
ASKED = all_lessons()[LESSON].exercises
POINTS = sum(exercise.points for exercise in ASKED)
WRONG = RIGHT.replace("torch.tanh(asked + offered)", "(asked + offered)")
LINE = element(".jp-NotebookPanel .cm-line", f"def {EXERCISE}")
VERDICT = ".jp-NotebookPanel .jp-OutputArea-output"


def notebook_of(course: Course) -> Path:
    return course.learn / LESSON / f"{LESSON}.ipynb"


def holds_answer(notebook: Path) -> bool:
    return any("".join(cell["source"]) == RIGHT for cell in cells(notebook))


def row(page: Chrome) -> str:
    """The start page's row of the lesson."""
    rows = texts(page, ".jp-MarkdownViewer table:first-of-type tr")
    return next((text for text in rows if text.startswith(("02", "✓ 02"))), "")


def write_answer(page: Chrome, source: str) -> None:
    """Replace the exercise's cell, which has the cursor, run it and the check below it."""
    page.press("a", control=True)
    page.insert(source)
    page.press("Enter", shift=True)
    page.press("Enter", shift=True)


def go_to_exercise(page: Chrome) -> None:
    """Follow the start page's link to the exercise's cell, and put the cursor into it.

    A page that is drawn anew, since a verdict has come, shows its lessons closed.
    """
    opened = f"(found => found && (found.parentElement.open = true))({element('summary', '02')})"
    page.click(f"{opened} && {element('.jp-MarkdownViewer td a', EXERCISE)}")
    wait_for_kernel(page)
    page.click(LINE)


def test_the_walk_begins_with_nothing_passed(page: Chrome) -> None:
    assert f"0 of {len(ASKED)}" in row(page)


def test_a_wrong_answer_is_named(page: Chrome, course: Course) -> None:
    go_to_exercise(page)
    choose(page, "Run", "Run All Above Selected Cell")
    page.click(LINE)
    write_answer(page, WRONG)
    said = "Without tanh the query only adds the same number to every score."
    wait_for(lambda: any(said in text for text in texts(page, VERDICT)), said)
    record = wait_for(lambda: read(course.learn, LESSON, EXERCISE), "the record")
    assert (record.passed, record.started) == (False, True)


def test_the_start_page_says_that_it_does_not_pass_yet(page: Chrome) -> None:
    to_start_page(page)
    wait_for(lambda: any(t.startswith("not passed") for t in texts(page, "td")), "the failure")
    assert f"0 of {len(ASKED)}" in row(page)


def test_the_mended_answer_passes(page: Chrome, course: Course) -> None:
    go_to_exercise(page)
    write_answer(page, RIGHT)
    wait_for(lambda: any("cases pass" in t and "✓" in t for t in texts(page, VERDICT)), "a pass")
    wait_for(lambda: read(course.learn, LESSON, EXERCISE).passed, "the record")
    choose(page, "File", "Save Notebook")
    wait_for(lambda: holds_answer(notebook_of(course)), "the saved answer")


def test_the_start_page_counts_it_with_its_points(page: Chrome) -> None:
    to_start_page(page)
    wait_for(lambda: f"1 of {len(ASKED)}" in row(page), "the exercise in its row")
    assert f"3 of {POINTS:g}" in row(page)


def test_submitting_brings_it_into_the_exchange_and_onto_the_start_page(
    page: Chrome, course: Course
) -> None:
    choose(page, "Nbgrader", "Assignment List")
    button = (
        "[...document.querySelectorAll('.list_item')].filter(item =>"
        f" item.textContent.includes('{LESSON}')).flatMap(item =>"
        " [...item.querySelectorAll('button')]).find(found => found.textContent === 'Submit')"
    )
    page.click(button)
    pattern = f"*/inbound/*+{LESSON}+*/{LESSON}.ipynb"
    sent = wait_for(lambda: list(course.exchange.glob(pattern)), "the submission")
    assert holds_answer(sent[0])
    to_start_page(page)
    wait_for(lambda: row(page).endswith("not yet"), "the submission in the lesson's row")


def release_feedback(course: Course, text: str) -> None:
    """Put a page where nbgrader's release_feedback puts it."""
    (sent,) = (course.private / "submitted" / COURSE_ID).glob(f"*+{LESSON}+*")
    secret = (sent / "submission_secret.txt").read_text()
    folder = course.exchange / COURSE_ID / "feedback"
    folder.mkdir(exist_ok=True)
    page = folder / f"{notebook_hash(secret=secret, notebook_id=LESSON)}.html"
    page.write_text(f"<p id='feedback'>{text}</p>")


def test_released_feedback_is_announced_fetched_and_read(page: Chrome, course: Course) -> None:
    release_feedback(course, "Well done.")
    to_start_page(page)
    wait_for(lambda: "ready: Fetch Feedback" in row(page), "the announcement")
    choose(page, "Nbgrader", "Assignment List")
    page.click("document.querySelector('#refresh_assignments_list, .refresh_assignments_list')")
    page.click(element("button", "Fetch Feedback"))
    fetched = f"{LESSON}/feedback/*/{LESSON}.html"
    wait_for(lambda: list(course.learn.glob(fetched)), "the fetched page")
    to_start_page(page)
    page.wait(f"!!({element('.jp-MarkdownViewer td a', 'read it')})")
    page.click(element(".jp-MarkdownViewer td a", "read it"))
    page.wait("!!document.querySelector('.jp-HTMLViewer iframe')")

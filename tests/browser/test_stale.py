"""An answer that passed and is then broken, in JupyterLab: not passed, and not counted.

The tests are steps of one walk and run in this order.
"""

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    choose,
    element,
    solution,
    texts,
    to_start_page,
    wait_for_kernel,
)
from tests.course.lesson_runs import all_lessons
from utils.lab.exchange import Course
from utils.progress.record import read

LESSON, EXERCISE = "00_start_here", "stable_softmax"
RIGHT = solution(LESSON, EXERCISE)
BROKEN = RIGHT.replace("-> Tensor:", "-> Tensor", 1)
ASKED = all_lessons()[LESSON].exercises
LINE = element(".jp-NotebookPanel .cm-line", f"def {EXERCISE}")
CHECK = element(".jp-NotebookPanel .cm-line", f"check.{EXERCISE}({EXERCISE})")
OUTPUT = ".jp-NotebookPanel .jp-OutputArea-output"


def run_cell(page: Chrome, line: str) -> None:
    page.click(line)
    page.press("Enter", shift=True)


def rewrite(page: Chrome, source: str) -> None:
    page.click(LINE)
    page.press("a", control=True)
    page.insert(source)


def wait_for_output(page: Chrome, words: str) -> None:
    wait_for(lambda: any(words in text for text in texts(page, OUTPUT)), words)


def counted(page: Chrome) -> str:
    """The start page's row of the lesson."""
    to_start_page(page)
    rows = texts(page, ".jp-MarkdownViewer table:first-of-type tr")
    return next((text for text in rows if text.startswith(("00", "✓ 00"))), "")


def to_exercise(page: Chrome) -> None:
    page.click(element("summary", "00"))
    page.click(element(".jp-MarkdownViewer td a", EXERCISE))
    wait_for_kernel(page)


def test_a_right_answer_passes_and_is_counted(page: Chrome, course: Course) -> None:
    to_exercise(page)
    page.click(LINE)
    choose(page, "Run", "Run All Above Selected Cell")
    rewrite(page, RIGHT)
    run_cell(page, LINE)
    run_cell(page, CHECK)
    wait_for_output(page, "all 8 cases pass")
    wait_for(lambda: f"1 of {len(ASKED)}" in counted(page), "the exercise in its row")


def test_the_broken_answer_does_not_pass(page: Chrome, course: Course) -> None:
    to_exercise(page)
    rewrite(page, BROKEN)
    run_cell(page, LINE)
    wait_for_output(page, "SyntaxError")
    run_cell(page, CHECK)
    wait_for_output(page, "This is your earlier version's result: it does not count.")
    assert not any(text.startswith("✓") for text in texts(page, OUTPUT))
    record = read(course.learn, LESSON, EXERCISE)
    assert record is not None and not record.passed


def test_the_start_page_no_longer_counts_it(page: Chrome) -> None:
    wait_for(lambda: f"0 of {len(ASKED)}" in counted(page), "the exercise out of its row")

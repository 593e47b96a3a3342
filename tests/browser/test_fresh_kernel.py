"""A kernel that has just started gets what an exercise builds on, whichever way leads there."""

import time

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    choose,
    edit,
    element,
    solution,
    texts,
    to_start_page,
    wait_for_kernel,
    wait_for_start_page,
)
from utils.lab.exchange import Course
from utils.progress.record import read

FIRST, EXERCISE = "00_start_here", "stable_softmax"
KEEP_TOASTS = """
window.kept = [];
new MutationObserver(() => kept.push(document.querySelector('.Toastify')?.textContent ?? ''))
    .observe(document.body, {childList: true, subtree: true, characterData: true});
"""
OUTPUTS = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output"


def ran(page: Chrome) -> list[int]:
    """The numbers of the code cells in sight that have run: a folded one shows no count."""
    shown = texts(page, ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt")
    return [n for n, prompt in enumerate(shown) if prompt.strip("[]: ").isdigit()]


def answer_and_check(page: Chrome, exercise: str) -> None:
    """Write the answer over the exercise's cell, run it and, at once, its check."""
    edit(page, f"def {exercise}")
    page.press("a", control=True)
    page.insert(solution(FIRST, exercise))
    page.press("Enter", shift=True)
    page.press("Enter", shift=True)


def passes(page: Chrome) -> None:
    wait_for(lambda: any("cases pass" in t and "✓" in t for t in texts(page, OUTPUTS)), "a pass")


def follow(page: Chrome, link: str) -> None:
    """Follow the start page's link to an exercise of the first lesson."""
    to_start_page(page)
    page.run("document.querySelector('.jp-MarkdownViewer details').open = true")
    page.click(element(".jp-MarkdownViewer details td a", link))
    wait_for_kernel(page)


def restart(page: Chrome) -> None:
    choose(page, "Kernel", "Restart Kernel and Clear Outputs")
    page.click(element(".jp-Dialog button", "Restart"))
    page.wait("!document.querySelector('.jp-Dialog')")
    wait_for_kernel(page)


def test_going_to_an_exercise_runs_what_grading_runs_above_it_and_says_so(page: Chrome) -> None:
    page.run(KEEP_TOASTS)  # on a busy machine one may be gone before anybody looks
    follow(page, EXERCISE)
    page.wait("kept.some(text => text.includes('ran first'))")
    # Besides the set-up, folded, the function that the text shows; no demonstration and no check.
    wait_for(lambda: ran(page) == [3], "the function above")


def test_an_answer_written_there_passes_at_the_first_try(page: Chrome, course: Course) -> None:
    answer_and_check(page, EXERCISE)
    passes(page)
    record = wait_for(lambda: read(course.learn, FIRST, EXERCISE), "the record")
    assert record.passed
    wait_for(lambda: ran(page) == [3, 8, 9], "the counts of the answer and its check")


def test_after_a_restart_a_cell_that_is_run_gets_it_again(page: Chrome) -> None:
    restart(page)
    answer_and_check(page, EXERCISE)
    passes(page)


def test_a_notebook_run_from_its_top_is_run_once(page: Chrome) -> None:
    restart(page)
    choose(page, "Run", "Run All Cells")
    wait_for(lambda: len(ran(page)) > 15, "all cells")
    counts = texts(page, ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt")
    assert counts[:2] == ["", "[2]:"]  # the first is folded


def test_an_answer_above_that_fails_drops_neither_the_rest_nor_the_check(page: Chrome) -> None:
    edit(page, f"def {EXERCISE}")
    page.press("a", control=True)
    page.insert("raise ValueError('an answer of a bad day')")
    restart(page)
    answer_and_check(page, "masked_mean")
    passes(page)
    assert any("an answer of a bad day" in text for text in texts(page, OUTPUTS))


def test_going_on_in_a_tab_that_was_open_yesterday_leads_to_the_exercise(
    page: Chrome, lab: str
) -> None:
    choose(page, "File", "Save All")
    choose(page, "Kernel", "Shut Down All Kernels")
    page.click(element(".jp-Dialog button", "Shut Down All"))
    page.wait("!document.querySelector('.jp-Dialog')")
    page.open("about:blank")
    page.open(lab)
    wait_for_start_page(page)
    # JupyterLab brings back the tabs, one after another, and then the start page to the front.
    tab, start = element(".lm-TabBar-tabLabel", FIRST), ".jp-MarkdownViewer:not(.lm-mod-hidden)"

    def is_back() -> bool:
        time.sleep(0.5)
        return bool(page.run(f"!!({tab}) && !!document.querySelector({start!r})"))

    wait_for(lambda: all(is_back() for _ in range(8)), "yesterday's tab behind the start page")
    follow(page, "pairwise_dot")
    line = element(".jp-NotebookPanel:not(.lm-mod-hidden) .cm-line", "def pairwise_dot")
    place = f"({line})?.getBoundingClientRect().top ?? -1"

    def is_shown() -> bool:
        places = []
        for _ in range(4):
            places.append(page.run(place))
            time.sleep(0.7)
        return len(set(places)) == 1 and 100 < places[0] < page.run("innerHeight") - 100

    wait_for(is_shown, "the exercise in sight, where it stays", seconds=30)
    assert page.run(f"({line}).closest('.jp-Cell').classList.contains('jp-mod-active')")

"""After Shift+Enter on a check, its verdict is in sight: its first line, and its diagnosis."""

import re
from collections.abc import Iterator

import pytest

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import edit, element, solution, to_start_page, wait_for_kernel
from tests.course.lesson_runs import all_lessons
from tests.course.other_hands import forms

SIZES = [(1366, 768), (1280, 600)]  # the second is a small laptop's, less the browser's own bars
SENTENCE = 40  # characters: more than a case's name or a row of numbers has
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"


def asked() -> Iterator[tuple[str, str]]:
    for lesson in ("00_start_here", "02_attention"):
        for exercise in all_lessons()[lesson].exercises:
            yield lesson, exercise.id


WRONG = {form.exercise: form.source for form in forms() if not form.is_right}


@pytest.fixture(scope="module", params=SIZES, ids=str)
def sized(page: Chrome, request: pytest.FixtureRequest) -> Chrome:
    """The browser's page in a size."""
    page.resize(*request.param)
    return page


def show_lesson(page: Chrome, lesson: str) -> None:
    tab = element(".lm-DockPanel-tabBar .lm-TabBar-tab", lesson)
    if page.run(f"!!({tab})"):
        page.click(tab)
    else:
        to_start_page(page)
        page.click(element(".jp-MarkdownViewer td a", lesson[:2]))
    wait_for_kernel(page)


def check_cell(exercise: str) -> str:
    return (
        f"[...document.querySelectorAll('{PANEL} .jp-CodeCell')].find(cell => cell"
        f".querySelector('.cm-content')?.textContent.startsWith('check.{exercise}({exercise}'))"
    )


def in_sight(page: Chrome, exercise: str) -> bool:
    """Whether a verdict's first line can be seen, and its first sentence, if it has any."""
    return bool(
        page.run(f"""(() => {{
        const cell = {check_cell(exercise)};
        const output = cell.querySelector('.jp-OutputArea');
        const scroller = document.querySelector('{PANEL} .jp-WindowedPanel-outer');
        const view = scroller.getBoundingClientRect();
        const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
        const lines = [];
        for (let node; (node = walker.nextNode()); ) {{
            if (!node.data.trim()) continue;
            if (node.parentElement.closest('style, .jp-OutputPrompt')) continue;
            lines.push(node);
        }}
        const isSeen = (node) => {{
            const range = document.createRange();
            range.selectNodeContents(node);
            const {{ top, bottom }} = range.getClientRects()[0];
            return top >= view.top && bottom <= view.bottom;
        }};
        const sentence = lines.slice(1).find((node) => node.data.trim().length > {SENTENCE});
        return lines.length > 0 && [lines[0], sentence ?? lines[0]].every(isSeen);
        }})()""")
    )


def answer(page: Chrome, exercise: str, source: str) -> None:
    """Write an answer, run it and its check, and wait until the check has run."""
    numbers = f"{check_cell(exercise)}.querySelector('.jp-InputPrompt').textContent"
    before = page.run(f"{check_cell(exercise)} ? {numbers} : ''")
    edit(page, f"check.{exercise}({exercise}")
    for key in ("Escape", "ArrowUp", "Enter"):  # into the cell above it
        page.press(key)
    page.press("a", control=True)
    page.insert(source)
    page.press("Enter", shift=True)
    page.press("Enter", shift=True)

    def has_run() -> bool:
        now = page.run(numbers)
        return now != before and re.fullmatch(r"\[\d+\]:", now) is not None

    wait_for(has_run, f"the check of {exercise}", seconds=60)


@pytest.mark.parametrize(("lesson", "exercise"), list(asked()))
def test_after_shift_enter_a_right_and_a_wrong_answers_verdict_is_in_sight(
    sized: Chrome, lesson: str, exercise: str
) -> None:
    show_lesson(sized, lesson)
    for source in filter(None, (WRONG.get(exercise), solution(lesson, exercise))):
        answer(sized, exercise, source)
        wait_for(lambda: in_sight(sized, exercise), "the verdict in sight", seconds=8)

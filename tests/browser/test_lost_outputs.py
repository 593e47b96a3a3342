"""A cell whose tab closes while it runs loses its output: it says so when it is open again."""

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    choose,
    edit,
    element,
    texts,
    to_start_page,
    wait_for_kernel,
    wait_for_start_page,
)

PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
LESSON, EXERCISE = "00_start_here", "stable_softmax"
TAB = element(".lm-DockPanel-tabBar .lm-TabBar-tab", LESSON)
TOAST, OUTPUT = ".Toastify__toast", f"{PANEL} .jp-OutputArea-output"
LOST = "what it showed after that is lost"
ENDLESS = f"def {EXERCISE}(): ...\nimport time\nprint('begun')\ntime.sleep(1000)"


def open_lesson(page: Chrome) -> None:
    to_start_page(page)
    page.click(element(".jp-MarkdownViewer td a", "00"))
    page.wait(f"!!document.querySelector('{PANEL} .jp-CodeCell')")


def run_endless_cell(page: Chrome) -> None:
    wait_for_kernel(page)
    edit(page, f"def {EXERCISE}")
    page.press("a", control=True)
    page.insert(ENDLESS)
    page.press("Enter", shift=True)
    shows(page, "begun")


def shows(page: Chrome, *words: str) -> None:
    def found() -> bool:
        return any(all(word in text for word in words) for text in texts(page, OUTPUT))

    wait_for(found, f"an output with {words}", seconds=60)


def interrupt(page: Chrome) -> None:
    choose(page, "Kernel", "Interrupt Kernel")
    wait_for_kernel(page)


def close(page: Chrome) -> None:
    page.click(f"({TAB}).querySelector('.lm-TabBar-tabCloseIcon')")


def agree(page: Chrome, button: str) -> None:
    page.click(element(".jp-Dialog button", button))


def may_leave(page: Chrome) -> bool:
    """Let the browser leave the page, once it asks."""
    try:
        page.call("Page.handleJavaScriptDialog", accept=True)
    except RuntimeError:  # it does not ask yet
        return False
    return True


def show(page: Chrome) -> None:
    """Go from the line in the corner to the cell."""
    page.click(element(f"{TOAST} button", "Show"))
    page.wait(f"!!({element(f'{PANEL} .cm-line', f'def {EXERCISE}')})")


def test_a_page_reloaded_meanwhile_says_at_the_cell_that_it_still_runs(page: Chrome) -> None:
    open_lesson(page)
    run_endless_cell(page)
    choose(page, "File", "Save Notebook")
    page.run("setTimeout(() => location.reload(), 100)")
    wait_for(lambda: may_leave(page), "the browser's question", seconds=60)
    page.wait(f"!document.querySelector('{OUTPUT}')")
    wait_for_start_page(page)
    open_lesson(page)
    show(page)
    shows(page, LOST, "It still runs")
    shows(page, "begun")  # what was saved stays


def test_the_cells_end_is_seen_and_running_it_again_takes_the_note_away(page: Chrome) -> None:
    interrupt(page)
    shows(page, LOST, "Run it again to bring its output back")
    run_endless_cell(page)
    assert not [text for text in texts(page, OUTPUT) if LOST in text]


def test_closing_that_was_called_off_loses_nothing(page: Chrome) -> None:
    close(page)
    agree(page, "Close and lose the output")
    agree(page, "Cancel")  # of JupyterLab's own question about the text
    interrupt(page)
    shows(page, "You stopped this cell")
    close(page)
    agree(page, "Save")
    page.wait(f"!({TAB})")
    open_lesson(page)
    wait_for_kernel(page)
    assert not [text for text in texts(page, TOAST) if "lost" in text]


def test_a_tab_closed_all_the_same_is_told_of_when_it_is_open_again(page: Chrome) -> None:
    run_endless_cell(page)
    close(page)
    agree(page, "Close and lose the output")
    agree(page, "Save")
    page.wait(f"!({TAB})")
    open_lesson(page)
    show(page)
    shows(page, LOST)


def test_browsers_ask_whether_the_courses_modules_have_changed(page: Chrome) -> None:
    modules = "performance.getEntriesByType('resource').map(({ name }) => name)"
    own = page.run(f"{modules}.filter(name => /extensions.course-.*[.]js/.test(name))")
    assert len(own) > 5
    for address in own:
        asked = f"fetch('{address}').then(got => got.headers.get('Cache-Control'))"
        assert page.run(asked) == "no-cache"

"""JupyterLab as learners meet it: it opens the start page, runs a lesson, takes a submission."""

import base64
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from tests.browser.chrome import Chrome, wait_for
from tests.browser.jupyterlab import (
    cells,
    choose,
    element,
    texts,
    to_start_page,
    wait_for_kernel,
)
from utils.lab.exchange import Course
from utils.lab.page import NAME
from utils.progress.record import Record, write


def executed(notebook: Path) -> dict[str, Any] | None:
    """Give the first code cell, once it was executed and saved."""
    cell = next((cell for cell in cells(notebook) if cell["cell_type"] == "code"), None)
    return cell if cell and cell["execution_count"] else None


def test_the_start_page_opens_and_nothing_asks_a_question(page: Chrome) -> None:
    assert page.run("location.pathname") == f"/lab/tree/{NAME}"
    assert texts(page, ".jp-MarkdownViewer h1")[0].startswith("The Transformer encoder")
    assert texts(page, ".jp-Dialog") == []
    assert texts(page, ".Toastify__toast") == []


def parts(page: Chrome) -> dict[str, str]:
    """Read from the start page's drawing of the encoder how each of its parts stands."""
    source = page.run("document.querySelector('.jp-MarkdownViewer img')?.src ?? ''")
    drawing = base64.b64decode(source.partition("base64,")[2])
    groups = ET.fromstring(drawing or "<svg/>").iter("{http://www.w3.org/2000/svg}g")
    return {group.attrib["data-part"]: group.attrib["data-state"] for group in groups}


def test_the_start_page_draws_the_encoder_below_its_button_and_colours_what_passes(
    page: Chrome, course: Course
) -> None:
    page.wait("document.querySelector('.jp-MarkdownViewer img')?.naturalWidth > 800")
    assert set(parts(page).values()) == {"to come"}
    write(course.learn, "00_start_here", "stable_softmax", Record(1e9, True, True, None, 1e9))
    to_start_page(page)
    wait_for(lambda: parts(page).get("stable_softmax") == "your check passes", "its colour")
    assert page.run(
        """(() => {
          const [image, column, button] = ["img", ".jp-RenderedMarkdown", "a.course-button"].map(
            (name) => document.querySelector(`.jp-MarkdownViewer ${name}`).getBoundingClientRect());
          return image.right <= column.right && image.top >= button.bottom;
        })()"""
    )


def test_the_file_list_shows_the_learners_copies_and_the_start_page_only(
    page: Chrome, course: Course
) -> None:
    page.click("document.querySelector('.jp-BreadCrumbs-home')")
    expected = [*course.lessons(), NAME]
    wait_for(lambda: texts(page, ".jp-DirListing-itemName") == expected, f"a list of {expected}")


def test_a_cell_that_imports_the_courses_checks_runs(page: Chrome, course: Course) -> None:
    page.click(element(".jp-MarkdownViewer td a", "00"))
    wait_for_kernel(page)
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


def follow(page: Chrome, words: str) -> None:
    """Follow a link at the end of the notebook in sight: only cells in sight are in the page."""
    panel = ".jp-NotebookPanel:not(.lm-mod-hidden)"
    link = element(f"{panel} a", words)
    end = f"document.querySelector('{panel} .jp-WindowedPanel-outer')"

    def is_there() -> bool:
        page.run(f"{end}?.scrollTo(0, {end}.scrollHeight)")
        return bool(page.run(f"!!({link})"))

    wait_for(is_there, f"the link {words}", 60)
    page.run(f"{link}.click()")


def test_the_end_of_a_lesson_leads_to_the_next_one_and_back_to_the_start_page(
    page: Chrome, course: Course
) -> None:
    first, second, *_ = course.lessons()
    to_start_page(page)
    page.click(element(".jp-MarkdownViewer td a", "00"))
    page.wait(f"location.pathname.endsWith('/{first}.ipynb')", 60)
    follow(page, "Start page")
    page.wait(f"location.pathname.endsWith('/{NAME}')", 60)
    page.click(element(".jp-MarkdownViewer td a", "00"))
    follow(page, "lesson 01")
    page.wait(f"location.pathname.endsWith('/{second}.ipynb')", 60)


def test_pictures_have_a_dark_ground_in_the_dark_theme_alone(page: Chrome) -> None:
    page.run(
        "document.body.insertAdjacentHTML('beforeend',"
        ' \'<div class="jp-RenderedImage"><img></div>'
        '<p class="jp-RenderedMarkdown"><img class="course-encoder"></p>\')'
    )
    turned = """[...new Set([...document.querySelectorAll("body > div img, body > p img")]
        .filter((image) => image.parentElement.parentElement === document.body)
        .map((image) => getComputedStyle(image).filter))].join()"""
    assert page.run(turned) == "none"
    choose(page, "Settings", "Theme", "JupyterLab Dark")
    page.wait("document.body.dataset.jpThemeLight === 'false'")
    assert page.run(turned) == "invert(0.93) hue-rotate(180deg)"
    choose(page, "Settings", "Theme", "JupyterLab Light")
    page.wait("document.body.dataset.jpThemeLight === 'true'")
    assert page.run(turned) == "none"


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


def test_fetching_from_the_assignments_panel_brings_a_lesson_back(
    page: Chrome, course: Course
) -> None:
    last = course.lessons()[-1]
    shutil.rmtree(course.learn / last)
    page.click("document.querySelector('#refresh_assignments_list, .refresh_assignments_list')")
    page.click(
        "[...document.querySelectorAll('button')].find(found => found.textContent === 'Fetch')"
    )
    fetched = course.learn / last / f"{last}.ipynb"
    wait_for(fetched.is_file, "the lesson")
    assert fetched.read_bytes() == (course.source(last) / f"{last}.ipynb").read_bytes()

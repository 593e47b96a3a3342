"""Feedback pages and reports in a real browser: how long, how wide, how legible, how quiet."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.pages.feedback import write_feedback
from grader.pages.reports import write_reports
from tests.browser.axe import findings
from tests.browser.chrome import Chrome
from tests.unit.grader.pages.graded_class import (
    LESSON,
    NO_SCALING,
    ROW_MISSED,
    GradedClass,
    comment_on,
    empty_gradebook,
    stub,
    wrong,
)

SCREEN = 900  # pixels
ATTEND = "scaled_dot_product_attention"
LOOKS = [(width, theme) for width in (1200, 390) for theme in ("light", "dark")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page: right, one thing wrong, much undone, the class, a student."""
    made = GradedClass(
        tmp_path_factory.mktemp("class"), empty_gradebook(tmp_path_factory.mktemp("gradebook"))
    )
    code = "def attend(q, k, v):\n    return " + " + ".join(["q @ k"] * 60)
    maps = (np.eye(6), np.full((6, 6), np.nan))
    one = wrong(ATTEND, 5, NO_SCALING, ROW_MISSED, pictures=maps)
    made.add("right", first_tries={ATTEND: 0.0})
    made.add("wrong", one, sources={ATTEND: code}, first_tries={ATTEND: 0.5})
    made.add("copy", one, sources={ATTEND: code}, status="timed out", notes=("It was stopped.",))
    made.add("undone", *(stub(x.id, x.points) for x in made.lesson.exercises))

    def comment(submission: Any) -> None:
        comment_on(submission, ATTEND).manual_comment = "Nearly."

    made.change("wrong", comment)
    students = ("right", "wrong", "copy", "undone")
    write_feedback(made.course, [(student, LESSON) for student in students], made.course.book())
    report, _ = write_reports(made.course, [made.lesson], made.course.book())
    found = {student: made.page(student) for student in students}
    return found | {"class": report, "student": report.parent / "students" / "wrong.html"}


@pytest.mark.parametrize("student", ["right", "wrong"])
def test_a_good_works_page_is_at_most_three_screens_long(
    chrome: Chrome, pages: dict[str, Path], student: str
) -> None:
    chrome.show(pages[student].as_uri(), 1200, "light")
    assert chrome.run("document.documentElement.scrollHeight") <= 3 * SCREEN


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["right", "wrong", "undone", "class", "student"])
def test_on_a_phone_nothing_reaches_beyond_the_screen_and_text_is_legible(
    chrome: Chrome, pages: dict[str, Path], name: str, theme: str
) -> None:
    chrome.show(pages[name].as_uri(), 390, theme)
    assert chrome.run("window.innerWidth") == 390
    assert chrome.run("document.documentElement.scrollWidth") <= 390
    assert chrome.run("parseFloat(getComputedStyle(document.body).fontSize)") >= 16


@pytest.mark.parametrize("name", ["wrong", "class"])
def test_the_dark_theme_is_dark(chrome: Chrome, pages: dict[str, Path], name: str) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    chrome.show(pages[name].as_uri(), 1200, "dark")
    dark = chrome.run(back)
    chrome.show(pages[name].as_uri(), 1200, "light")
    assert (dark, chrome.run(back)) == ("rgb(21, 24, 29)", "rgb(255, 255, 255)")


@pytest.mark.parametrize("name", ["wrong", "class", "student"])
def test_a_page_loads_nothing_but_itself(chrome: Chrome, pages: dict[str, Path], name: str) -> None:
    chrome.show(pages[name].as_uri(), 1200, "light")
    assert chrome.run("performance.getEntriesByType('resource').map(x => x.name)") == []
    assert chrome.run("document.querySelectorAll('script, link, iframe, img').length") == 0


@pytest.mark.parametrize(("width", "theme"), LOOKS)
@pytest.mark.parametrize("name", ["right", "wrong", "copy", "undone", "class", "student"])
def test_axe_finds_nothing(
    chrome: Chrome, pages: dict[str, Path], name: str, width: int, theme: str
) -> None:
    chrome.show(pages[name].as_uri(), width, theme)
    chrome.run("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert findings(chrome) == []

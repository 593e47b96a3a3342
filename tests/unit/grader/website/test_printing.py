"""A page as paper shows it, and what is said where nothing can print."""

from pathlib import Path

import pytest

from grader.errors import CourseError
from grader.website import printing

PAGE = (
    '<p>a</p><label class="prediction">Your prediction <input data-prediction="x"></label>'
    '<details class="admonition hide below-input"><img class="plot" loading="lazy"></details>'
    '<details class="why"><summary>Why</summary>since</details>'
    "<details><summary>Hint</summary>spoiler</details>"
)


def test_paper_shows_results_and_pictures_and_keeps_hints_shut() -> None:
    shown = printing.printable(PAGE)
    assert shown == (
        '<p>a</p><details open class="admonition hide below-input"><img class="plot"></details>'
        '<details open class="why"><summary>Why</summary>since</details>'
        "<details><summary>Hint</summary>spoiler</details>"
    )


def test_without_a_browser_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match="apt install chromium"):
        printing.print_lessons(tmp_path, ["02_attention"])


def test_a_browser_that_prints_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\nexit 0\n")
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "02_attention.html").write_text(PAGE)
    with pytest.raises(CourseError, match="could not print"):
        printing.print_lessons(tmp_path, ["02_attention"])
    assert [x.name for x in (tmp_path / "lessons").iterdir()] == ["02_attention.html"]

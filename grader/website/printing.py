"""Lessons as PDF, printed from the site's pages by a Chromium that is installed."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.errors import CourseError

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def print_lessons(site: Path, names: Sequence[str]) -> None:
    """Write _static/print/NAME.pdf for each lesson of a built site.

    Raises:
        CourseError: no Chromium is installed, or it could not print a page.

    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise CourseError(
            "Printing needs Chromium or Chrome (Debian: apt install chromium). The site is built; "
            "without --pdf nothing more is needed."
        )
    folder = site / "_static" / "print"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        _print(browser, site / "lessons" / f"{name}.html", folder / f"{name}.pdf")


def _print(browser: str, page: Path, target: Path) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    wait = "--virtual-time-budget=20000"  # formulas are typeset by a script
    command = [browser, *options, wait, f"--print-to-pdf={target}", page.as_uri()]
    subprocess.run(command, capture_output=True, check=False, timeout=120)
    if not target.is_file():
        raise CourseError(f"{browser} could not print {page}.")

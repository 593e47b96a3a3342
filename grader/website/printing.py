"""Lessons as PDF, printed from the site's pages by a Chromium that is installed."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grader.errors import CourseError

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC: Final = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_chromium() -> str | None:
    """Return the first Chromium or Chrome of this machine, or None."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or (str(MAC) if MAC.exists() else None)


def sandbox_options() -> list[str]:
    """Return what Chromium needs to run as root, where it has no sandbox of its own."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def print_lessons(site: Path, names: Sequence[str]) -> Path:
    """Write _static/print/NAME.pdf for each lesson of a built site; return that folder.

    Raises:
        CourseError: no Chromium is installed, or it could not print a page.

    """
    browser = find_chromium()
    if browser is None:
        raise CourseError(
            "Printing needs Chromium or Chrome (Debian: apt install chromium). The site is built; "
            "without --pdf nothing more is needed."
        )
    folder = site / "_static" / "print"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        _print(browser, site / "lessons" / f"{name}.html", folder / f"{name}.pdf")
    return folder


def _print(browser: str, page: Path, target: Path) -> None:
    shown = page.with_name(f"print-{page.name}")  # beside it, so that its links hold
    shown.write_text(printable(page.read_text(encoding="utf-8")), encoding="utf-8")
    options = ["--headless", *sandbox_options(), "--disable-gpu", "--no-pdf-header-footer"]
    wait = "--virtual-time-budget=20000"  # formulas are typeset by a script
    command = [browser, *options, wait, f"--print-to-pdf={target}", shown.as_uri()]
    subprocess.run(command, capture_output=True, check=False, timeout=120)
    shown.unlink()
    if not target.is_file():
        raise CourseError(f"{browser} could not print {page}.")


def printable(page: str) -> str:
    """Return a page as paper shows it: results open, pictures loaded, nothing to fill in.

    What explains a result is open, too. Hints stay folded, as in the lesson.
    """
    page = page.replace(' loading="lazy"', "")
    page = re.sub(r'<details (class="[^"]*\b(?:hide|why)\b)', r"<details open \1", page)
    return re.sub(r'<label class="prediction">.*?</label>', "", page)

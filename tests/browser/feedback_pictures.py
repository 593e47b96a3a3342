"""Take pictures of a feedback page: `python -m tests.browser.feedback_pictures [FOLDER]`, or docs/.

feedback.png is the page in the light, feedback-dark.png in the dark, feedback-phone.png on a phone.
"""

import sys
import tempfile
from pathlib import Path

from grader.authoring.sample_class import CLASS, submission
from grader.course.course import GradingCourse
from grader.grading.batch import autograde
from grader.pages.feedback import write_feedback
from grader.website.printing import find_chromium
from tests.browser.chrome import Chrome
from tests.browser.jupyterlab import ROOT
from tests.course.lesson_runs import all_lessons

LESSON, STUDENT = "02_attention", "ben"
MISTAKEN = ("scaled_dot_product_attention", "causal_mask")
SENT = "2026-10-13 16:20:00 UTC"
LOOKS = {"": (1000, 1250, "light"), "-dark": (1000, 1250, "dark"), "-phone": (390, 900, "light")}


def graded_page(folder: Path) -> Path:
    """Grade a made-up student's notebook, a day late, and give the page that is written."""
    course = GradingCourse(ROOT, folder)
    place = folder / "submitted" / STUDENT / LESSON
    place.mkdir(parents=True)
    mistakes = [edit for edit in (*CLASS["ben"], *CLASS["eve"]) if edit.exercise in MISTAKEN]
    (place / f"{LESSON}.ipynb").write_text(submission(all_lessons()[LESSON], STUDENT, mistakes))
    (place / "timestamp.txt").write_text(SENT)
    with course.gradebook() as gradebook:
        gradebook.add_student(STUDENT, first_name="Ben", last_name="Okafor")
        gradebook.update_or_create_assignment(LESSON, duedate="2026-10-12 21:59:00 UTC")
    autograde(course, course.submitted(), n_jobs=1)
    write_feedback(course, course.submitted(), course.book())
    return course.feedback / STUDENT / LESSON / f"{LESSON}.html"


def take(page: Chrome, address: str, folder: Path) -> None:
    """Photograph the top of the page as each reader sees it."""
    page.call("Emulation.setScrollbarsHidden", hidden=True)
    for suffix, (width, height, theme) in LOOKS.items():
        page.show(address, width, theme)
        if width > 500:  # a phone keeps the size that `show` gave it
            page.resize(width, height)
        page.settle()
        page.screenshot(folder / f"feedback{suffix}.png")


def main(folder: Path) -> None:
    program = find_chromium()
    if program is None:
        sys.exit("There is no Chromium or Chrome on this machine (Debian: apt install chromium).")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="feedback-") as temporary:
        path = graded_page(Path(temporary).resolve())
        with Chrome(program, Path(temporary) / "profile") as page:
            take(page, path.as_uri(), folder)


if __name__ == "__main__":  # tests and tools import every module
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs")

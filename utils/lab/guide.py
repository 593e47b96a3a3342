"""The start page's texts: what counts, how work is handed in, what comes back."""

import sys
from collections.abc import Iterator
from html import escape

from utils.lab.exchange import Course

BUTTON = "Start page"
WHAT_COUNTS = (
    "An exercise counts as soon as its check passes, for as long as its cell stays as it was then. "
    "Grading tries hidden cases, too, so these points are within reach, not earned yet."
)
CHECK = (
    "**Write and check.** Open a lesson, write an answer, and run the check below it "
    "(Shift+Enter). It says what it tried, what your answer gave, and often what the "
    "mistake is. Try as often as you like."
)
SAVE = "**Save** (Ctrl+S, or Cmd+S): the saved file is what is handed in."
SUBMIT = (
    "**Submit** in the menu: Nbgrader → Assignment List → Submit. It saves the notebook first. "
    "Do it as often as you like: the last submission counts, even if it is late."
)
GRADED = (
    "**Grading** runs your notebook from top to bottom, apart from everything else, and judges "
    "each exercise by the cases that you see and by hidden ones. Part of an answer earns part of "
    "its points, and an unfinished exercise costs only its own."
)
FEEDBACK = (
    "**Feedback** appears in the Assignment List when your instructor has released it: Fetch "
    "Feedback, and the table above links the page."
)
RENAME = "To start a lesson over, rename its folder (right-click in the list of files) and "
START_OVER = f"{RENAME}start the course again: a fresh copy appears, and your old one stays."
FETCH_AGAIN = f"{RENAME}choose Fetch in the Assignment List: a fresh copy appears."


def where_to_upload(course: Course) -> str:
    """Return what to upload, and where, in one sentence; "" if nbgrader's Submit does it."""
    if course.has_submit:
        return ""
    file = course.learn / "LESSON" / "LESSON.ipynb"
    where = course.settings.upload or "where your instructor says"
    return f"To hand in a lesson, upload its notebook, {file}, to: {where}"


def warnings(course: Course) -> Iterator[str]:
    """Return what keeps the learner from submitting."""
    shared = course.settings.shared
    if shared is not None and course.has_submit and not shared.is_dir():
        yield (
            f"**The class's exchange, `{shared}`, cannot be reached from here,** so Submit does "
            "not work now. Connect to it, then start the course again."
        )


def how_it_goes(course: Course) -> str:
    """Return the steps from an answer to its feedback, for the way this class hands in."""
    if not course.has_submit:
        steps = [CHECK, SAVE, _upload(course), GRADED]
    else:
        steps = [CHECK, _submit(course), GRADED, FEEDBACK]
    over = FETCH_AGAIN if course.settings.shared and course.has_submit else START_OVER
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n".join(["## How it goes", "", *numbered, "", over])


def about_the_page(at: str) -> str:
    """Return the page's last line; `at` is the moment that it shows."""
    return (
        f"*This is how things stood {at}. The button “{BUTTON}”, top right, brings the page up to "
        "date. It is rewritten each time: keep notes elsewhere.*"
    )


def _submit(course: Course) -> str:
    if course.settings.shared is not None:
        return f"{SUBMIT} It goes to your class's exchange, `{course.settings.shared}`."
    return f"{SUBMIT} On your own? `make grade`, in a terminal, grades what you submitted."


def _upload(course: Course) -> str:
    where = escape(course.settings.upload) or "where your instructor says"
    keys = "Finder" if sys.platform == "darwin" else "your files"
    return (
        f"**Hand in** by uploading the lesson's notebook to: **{where}**. Right-click it in the "
        f"list of files and choose Download, or find it in {keys}: "
        f"`{course.learn / 'LESSON' / 'LESSON.ipynb'}`, such as "
        f"`{course.lessons()[0]}.ipynb`. Keep its name."
    )

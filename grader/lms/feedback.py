"""Feedback pages as a ZIP file for upload, each under the name of the hand-in that it answers.

Canvas ("Upload submissions") reads user and attachment from the file's name; Moodle ("Upload
multiple feedback files in a zip") reads the participant from the folder's, or from the file's.
"""

import io
import zipfile
from pathlib import PurePosixPath
from typing import Final

from grader.course.course import GradingCourse
from grader.lms.claims import READERS, moodle_place
from grader.lms.storing import Records

SYSTEMS: Final = tuple(READERS)


def collected_from(course: GradingCourse, lesson: str) -> list[str]:
    """Return the systems that a lesson's hand-ins were collected from."""
    return [system for system in SYSTEMS if Records(course.folder, system, lesson).known]


def feedback_zip(course: GradingCourse, system: str, lesson: str) -> tuple[bytes, list[str], int]:
    """Make the ZIP file.

    Returns:
        Its content, the students who have no page yet, and how many have one.

    """
    known = Records(course.folder, system, lesson).known
    pages = {student: course.page(student, lesson) for student in sorted(known)}
    there = {student: page for student, page in pages.items() if page.is_file()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, page in there.items():
            archive.write(page, answer_to(system, lesson, known[student].entry))
    return content.getvalue(), [student for student in pages if student not in there], len(there)


def answer_to(system: str, lesson: str, entry: str) -> str:
    """Return the name of the page that answers a file of a download."""
    if system == "canvas":
        return str(PurePosixPath(PurePosixPath(entry).name).with_suffix(".html"))
    return f"{moodle_place(entry)}{lesson}.html"

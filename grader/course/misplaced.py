"""Hand-ins that were put where grading does not look, and so would be missed in silence."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from grader.course.course import GradingCourse
from grader.course.hand_in_files import lying_beside
from grader.course.safe_text import line
from grader.errors import nearest
from grader.notebook_file import may_be_meant

MOST_LINES: Final = 3
PLACE: Final = "submitted/<student>/<lesson>/<lesson>.ipynb"


def misplaced(course: GradingCourse) -> list[str]:
    """Return a line for what in submitted/ is not read: the first, then how many more.

    Folders are listed, one level each, and no link is followed. Hidden names are the system's, or
    what grading and collecting put there for a moment.
    """
    found = list(_misplaced(course))
    shown = found if len(found) <= MOST_LINES else found[: MOST_LINES - 1]
    lines = [f"not read: {line(path)} ({reason})" for path, reason in shown]
    if more := len(found) - len(shown):
        lines.append(f"not read: {more:,} more; a hand-in's place is {PLACE}")
    return lines


def _misplaced(course: GradingCourse) -> Iterator[tuple[str, str]]:
    lessons = [lesson.name for lesson in course.lessons]
    refused = set(course.left_out())  # named already, with their own reason
    entries, faults = _listed(course.folder / "submitted", "submitted")
    yield from faults
    for entry in entries:
        if ascii(entry.name) in refused:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _of_student(entry, lessons)
        elif _is_notebook(entry):
            yield f"submitted/{entry.name}", f"its place is {PLACE}"


def _of_student(folder: os.DirEntry[str], lessons: Collection[str]) -> Iterator[tuple[str, str]]:
    home = f"submitted/{folder.name}"
    entries, faults = _listed(Path(folder.path), home)
    yield from faults
    for entry in entries:
        where = f"{home}/{entry.name}"
        if entry.name in lessons and entry.is_dir(follow_symlinks=False):
            yield from _beside(Path(entry.path), where, entry.name)
        elif _is_notebook(entry):
            yield where, _home(folder.name, entry.name, lessons)
        elif entry.name not in lessons and not entry.is_file(follow_symlinks=False):
            question = nearest(entry.name, lessons)
            yield where, "no such lesson" + question.replace("Did", "; did", 1)


def _beside(folder: Path, where: str, lesson: str) -> Iterator[tuple[str, str]]:
    """Yield what lies in a hand-in's folder beside what grading reads; it tells what it cannot."""
    with suppress(OSError):
        for name in lying_beside(folder, lesson):
            yield f"{where}/{name}", "grading reads the notebook alone"


def _home(student: str, notebook: str, lessons: Collection[str]) -> str:
    """Return where a notebook belongs that lies in no lesson's folder."""
    if student in lessons:
        return f"its place is {PLACE}"
    lesson = notebook.partition(".")[0]
    own = lesson if lesson in lessons else "<lesson>"
    return f"its place is submitted/{line(student)}/{own}/"


def _is_notebook(entry: os.DirEntry[str]) -> bool:
    return may_be_meant(entry.name) and not entry.is_dir(follow_symlinks=False)


def _listed(folder: Path, where: str) -> tuple[list[os.DirEntry[str]], list[tuple[str, str]]]:
    """Return what is not hidden in a folder, ordered by name, and why it cannot be listed if so.

    Hand-ins in a folder that cannot be listed are found by nobody else, either.
    """
    try:
        with os.scandir(folder) as found:
            seen = [entry for entry in found if not entry.name.startswith(".")]
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [(where, f"it cannot be listed: {error.strerror}")]
    return sorted(seen, key=lambda entry: entry.name), []

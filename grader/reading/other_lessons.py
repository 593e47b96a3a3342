"""Tell which lesson a notebook is of: this one, another, an earlier edition, or two in one."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.wording import first, plural
from grader.notebook_file import lessons_in
from grader.reading.arrangement import Arrangement
from grader.reading.submission import SubmittedCell

EXERCISE: Final = re.compile(r'^# ?%%.*\bexercise="(\w+)"', re.MULTILINE)
MOST: Final = 4  # names in a sentence
MOST_NAME: Final = 60  # characters


@cache
def exercises_in(folder: Path) -> Mapping[str, str]:
    """Return exercise -> lesson, of all lessons whose texts are in a folder."""
    return {
        name: path.stem
        for path in sorted(folder.glob("*.py"))
        for name in EXERCISE.findall(path.read_text(encoding="utf-8"))
    }


def another_lesson(
    lesson: Lesson, found: Arrangement, submitted: Sequence[SubmittedCell]
) -> str | None:
    """Return a sentence if a notebook is another lesson's and has nothing of its own."""
    nothing = all(home is None for home in found.homes.values())
    if not nothing or any(cell.name in found.tests for cell in found.cells):
        return None
    theirs = _theirs(lesson, submitted, [cell.source for cell in found.cells])
    if not theirs:
        return None
    name = theirs.most_common(1)[0][0]
    return (
        f"This is the notebook of {name}, and it was handed in for {lesson.name}, none of whose "
        f"exercises is in it. Hand it in for {name}, and {lesson.name}.ipynb for this lesson."
    )


def strangers(
    lesson: Lesson, found: Arrangement, submitted: Sequence[SubmittedCell]
) -> Iterator[str]:
    """Yield sentences on cells of other lessons, and of an earlier edition of this one."""
    for name, count in _theirs(lesson, submitted).most_common():
        what = plural(count, "exercise")
        yield (
            f"It also holds {what} of {name}, which count{'s' * (count == 1)} for nothing in this "
            f"lesson: hand them in for {name}."
        )
    gone = [name for name, home in found.homes.items() if home is None]
    unknown = _unknown(lesson, submitted)
    if gone and unknown:
        yield (
            f"It has cells that the lesson does not have ({first(unknown, MOST)}): it may be of an "
            "earlier edition. Fetch the lesson again and copy your answers into its cells."
        )


def _theirs(
    lesson: Lesson, cells: Sequence[SubmittedCell], sources: Sequence[str] = ()
) -> Counter[str]:
    """Return how many of other lessons' exercises there are, by lesson."""
    every = exercises_in(lesson.text_path.parent)
    others = {name: home for name, home in every.items() if home != lesson.name}
    return lessons_in([x for cell in cells for x in (cell.name, cell.id)], sources, others)


def _unknown(lesson: Lesson, submitted: Sequence[SubmittedCell]) -> list[str]:
    """Return the names that nbgrader gave to cells, and that no lesson has now."""
    every = exercises_in(lesson.text_path.parent)
    named = (cell.name.removeprefix("test_") for cell in submitted if cell.name)
    plain = (re.sub(r"[^\w-]", "?", name[:MOST_NAME], flags=re.ASCII) for name in named)
    return [name for name in dict.fromkeys(plain) if name not in every]

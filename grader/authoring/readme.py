"""The README's table of lessons, built from their texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from grader.authoring.lesson import Lesson
from grader.errors import CourseError

BEGIN: Final = "<!-- lessons: written by make build -->\n"
END: Final = "<!-- end of lessons -->\n"
TITLE: Final = re.compile(r"^# (\d\d[a-z]?) · ((?:Lab: )?[^:\n]+)", re.MULTILINE)
QUESTION: Final = re.compile(r"\*\*What this lesson answers:\*\* ([^?]+\?)")
MINUTES: Final = re.compile(r"\*\*Time:\*\* (\d+) minutes")
HEAD: Final = """\
| lesson | question | minutes | exercises | points | known mistakes |
|---|---|---|---|---|---|
"""


class Facts(NamedTuple):
    """What a lesson says of itself: its number and title, the question it answers, its minutes."""

    title: str
    question: str
    minutes: int


def with_lessons(readme: str, lessons: Sequence[Lesson], mistakes: Mapping[str, int]) -> str:
    """Return a README with its table of lessons as the lessons' texts have it.

    Args:
        readme: the text; without the two markers it stays as it is.
        lessons: all of them, in order.
        mistakes: exercise id -> how many known mistakes its check names.

    Raises:
        CourseError: a lesson's first cell lacks what the table needs.

    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return readme
    rows = "".join(_row(lesson, mistakes) for lesson in lessons)
    return f"{before}{begin}{HEAD}{rows}{end}{after}"


def facts(lesson: Lesson) -> Facts:
    """Return what a lesson's first cell says of it.

    Raises:
        CourseError: it lacks something.

    """
    text = " ".join(lesson.cells[0].source.split())
    title = TITLE.search(lesson.cells[0].source)
    question, minutes = QUESTION.search(text), MINUTES.search(text)
    if title is None or question is None or minutes is None:
        raise CourseError(
            f"solutions/{lesson.name}.py: the first cell needs `# NN · Title`, "
            "`**What this lesson answers:** ...?` and `**Time:** N minutes`"
        )
    asked = question[1][0].upper() + question[1][1:]
    return Facts(f"{title[1]} {title[2]}", asked, int(minutes[1]))


def _row(lesson: Lesson, mistakes: Mapping[str, int]) -> str:
    known = sum(mistakes.get(exercise.id, 0) for exercise in lesson.exercises)
    cells = (*facts(lesson), len(lesson.exercises))
    return f"| {' | '.join(map(str, cells))} | {lesson.points:g} | {known} |\n"

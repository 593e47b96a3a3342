"""The front page's parts that are made: attention by hand, the lessons' cards, how to run it."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.authoring.readme import facts
from grader.authoring.slides import slides
from grader.errors import CourseError
from grader.website.hosted import Host

BY_HAND: Final = "drawn.attention_by_hand("  # the cell of a lesson that shows it
GROWING: Final = "the-encoder-"  # the picture that every lesson ends with


def by_hand(lessons: Sequence[Lesson]) -> str:
    """Return the picture in which a reader follows attention, as a lesson's last run shows it.

    Raises:
        CourseError: no lesson's cell shows it.

    """
    for lesson in lessons:
        cells = json.loads(lesson.solution_path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            if BY_HAND in "".join(cell["source"]) and cell.get("outputs"):
                return "".join(cell["outputs"][0]["data"]["text/html"])
    raise CourseError(f"The front page shows what `{BY_HAND}...)` draws, and no lesson calls it.")


def cards(lessons: Sequence[Lesson], root: Path) -> tuple[str, dict[str, str]]:
    """Return a card for each lesson (title, question, minutes, points, picture), and the pictures.

    A lesson that draws nothing of its own shows the encoder, as far as it is built.

    Returns:
        the cards as HTML; file name -> SVG.

    """
    lines, shown, drawn = ['<div class="cards">'], dict[str, str](), dict[str, str]()
    for lesson in lessons:
        own = {path.name: text for path, text in slides(lesson, root).items()}
        drawn |= own
        name = next((name for name in own if GROWING not in name), list(drawn)[-1])
        shown[name] = drawn[name]
        lines.append(_card(lesson, name))
    return "\n".join([*lines, "</div>", ""]), shown


def _card(lesson: Lesson, picture: str) -> str:
    known = facts(lesson)
    return (
        f'<a class="card-of-lesson" href="lessons/{lesson.name}.html">'
        f'<img src="_static/{picture}" alt="" loading="lazy">'
        f"<strong>{escape(known.title)}</strong><span>{escape(known.question)}</span>"
        f"<small>{known.minutes} minutes · {lesson.points:g} points</small></a>"
    )


def how_to_run(host: Host) -> str:
    """Return the lines that bring the course onto a machine, to be copied."""
    lines = [f"git clone {host.clone}", f"cd {host.repository.rpartition('/')[2]}"]
    commands = [*(lines if host.repository else []), "make lab"]
    return (
        '<div class="run-it"><pre tabindex="0">'
        + escape("\n".join(commands))
        + '</pre><button type="button" hidden>Copy</button></div>\n'
    )

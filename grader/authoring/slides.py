"""The lessons' drawn pictures as files for a teacher's slides, from the executed notebooks."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from utils.drawn.frame import as_file, title_of

FOLDER: Final = "slides"
DRAWN: Final = re.compile(r'<div class="drawn".*?(<svg .*?</svg>)', re.DOTALL)


def slides(lesson: Lesson, root: Path) -> dict[Path, str]:
    """Return a lesson's pictures: the file of each below `root`, and its text."""
    found = [DRAWN.search(page) for page in _pages(lesson)]
    pictures = [match[1] for match in found if match]
    names = [
        f"{lesson.number}-{place}-{_slug(title_of(picture))}.svg"
        for place, picture in enumerate(pictures, start=1)
    ]
    return {root / FOLDER / n: as_file(p) for n, p in zip(names, pictures, strict=True)}


def stale_slides(root: Path, lessons: Iterable[Lesson]) -> list[Path]:
    """Return the pictures in the folder that no lesson shows."""
    built = {path for lesson in lessons for path in slides(lesson, root)}
    return sorted(path for path in (root / FOLDER).glob("*.svg") if path not in built)


def _pages(lesson: Lesson) -> list[str]:
    """Return the HTML of each output of a lesson's last run; none where there is no notebook."""
    try:
        cells = json.loads(lesson.solution_path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        return ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # the build says what is wrong with it


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower())[:6])

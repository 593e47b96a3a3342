"""Put the site's source together: pages, lessons, pictures, settings."""

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import nbformat

from grader.authoring.lesson import Lesson
from grader.authoring.notebook import as_text
from grader.authoring.slides import FOLDER as SLIDES
from grader.authoring.slides import slides
from grader.website.example import named_mistake
from grader.website.front import by_hand, cards, how_to_run
from grader.website.hosted import Host, hosted_notebook, launch_bar
from grader.website.lesson_page import lesson_page
from grader.website.repository_text import repository_page

SITE: Final = "site"
ALL_SLIDES: Final = (
    "The lessons' drawn pictures, on white and with a title, for whoever teaches: "
    "{download}`all of them as SVG files <slides.zip>`. Save a single one by a right-click."
)
# Pages that are files of the repository.
FROM_REPOSITORY: Final = {
    "statements.md": "docs/statements.md",
    "measured.md": "docs/measured.md",
    "teaching.md": "docs/teaching.md",
    "instructors.md": "docs/instructors.md",
    "grading.md": "docs/grading.md",
    "contributing.md": "CONTRIBUTING.md",
}


def assemble(root: Path, lessons: Sequence[Lesson], host: Host, folder: Path) -> None:
    """Write everything that Sphinx reads into an empty folder.

    Raises:
        CourseError: a link of a page of the repository leads nowhere.

    """
    shutil.copy(root / SITE / "conf.py", folder)
    shutil.copytree(root / SITE / "pages", folder, dirs_exist_ok=True)
    shutil.copytree(root / SITE / "static", folder / "_static")
    for picture in sorted((root / "docs").glob("*.png")):
        shutil.copy(picture, folder / "_static")
    for page, file in FROM_REPOSITORY.items():
        text = repository_page(root, file, host)
        (folder / page).write_text(text, encoding="utf-8")
    shown, pictures = cards(lessons, root)
    made = {
        "named-mistake.html": named_mistake(root / SITE),
        "by-hand.html": by_hand(lessons),
        "cards.html": shown,
        "run-it.html": how_to_run(host),
        **{f"_static/{name}": text for name, text in pictures.items()},
    }
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    for lesson in lessons:
        _lesson(lesson, host, folder)
    _slides(root, lessons, folder)


def _lesson(lesson: Lesson, host: Host, folder: Path) -> None:
    """Write a lesson's page, its pictures, and its notebook for a hosted service."""
    release = nbformat.read(lesson.release_path, as_version=4)
    hosted = folder / "_static" / "hosted" / f"{lesson.name}.ipynb"
    _write(hosted, as_text(hosted_notebook(release, host)).encode())
    page = lesson_page(lesson.name, release, nbformat.read(lesson.solution_path, as_version=4))
    first = page.notebook.cells[0]
    first.source = launch_bar(first.source, lesson.name, host)
    _write(folder / "lessons" / f"{lesson.name}.ipynb", as_text(page.notebook).encode())
    for path, content in page.pictures.items():
        _write(folder / "_static" / path, content)


def _slides(root: Path, lessons: Sequence[Lesson], folder: Path) -> None:
    """Write the lessons' drawn pictures, a page that shows them, and all of them in one file."""
    lines = ["# Pictures for slides", "", ALL_SLIDES]
    with zipfile.ZipFile(folder / f"{SLIDES}.zip", "w") as zipped:
        for lesson in lessons:
            lines += ["", f"## Lesson {lesson.number}"]
            for path, picture in slides(lesson, root).items():
                name = path.relative_to(root).as_posix()
                _write(folder / name, picture.encode())
                zipped.writestr(zipfile.ZipInfo(name), picture, zipfile.ZIP_DEFLATED)
                lines += ["", f"![{path.stem.split('-', 2)[2].replace('-', ' ')}]({name})"]
    (folder / "slides.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

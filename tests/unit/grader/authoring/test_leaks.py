"""No answer and no hidden test may reach notebooks/: read here without any code of the build."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.files import write_if_changed
from grader.authoring.lesson import read_lesson
from grader.authoring.notebook import as_text, source_notebook
from grader.authoring.release import released
from tests.unit.course_files import ROOT

MIN_LENGTH = 9  # shorter lines, such as `return x`, are anyone's
BEGIN = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS")
END = ("END SOLUTION", "END HIDDEN TESTS", "# STUB")  # what follows STUB is meant to be seen


def split(text: str) -> tuple[list[str], str]:
    """Return a lesson text's secret lines and, as one string, the rest."""
    secret: list[str] = []
    public: list[str] = []
    inside = False
    for line in text.splitlines():
        if any(marker in line for marker in END):
            inside = False
        (secret if inside else public).append(line.strip())
        if any(marker in line for marker in BEGIN):
            inside = True
    return secret, "\n".join(public)


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value; a list of lines as one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield "".join(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def content(path: Path) -> str:
    """Return everything in a file that may be read: strings of a notebook, else its text."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "\n".join(strings(json.loads(text))) if path.suffix == ".ipynb" else text


def leaks(course: Path) -> list[tuple[str, str]]:
    """Return (file, line) for each secret line that a file of notebooks/ holds.

    A line that the file's own lesson, or the line's, also shows outside its regions is no secret.
    """
    texts = {path.stem: split(path.read_text()) for path in (course / "solutions").glob("*.py")}
    found = []
    for path in filter(Path.is_file, (course / "notebooks").rglob("*")):
        shown = content(path)
        here = texts.get(path.parent.name, ([], ""))[1]
        for secret, public in texts.values():
            found += [
                (str(path.relative_to(course)), line)
                for line in secret
                if len(line) >= MIN_LENGTH and line in shown and line not in public + here
            ]
    return found


def test_every_lesson_text_is_built_and_released():
    texts = {path.stem for path in (ROOT / "solutions").glob("*.py")}
    for folder in ("solutions", "notebooks"):
        built = {path.stem for path in (ROOT / folder).glob("*/*.ipynb")}
        assert built == texts, f"{folder}/ is not what the texts build: run `make build`"


def test_no_answer_and_no_hidden_test_reaches_the_students_notebooks():
    assert leaks(ROOT) == []


@pytest.fixture
def released_course(course):
    """The made-up course with its release, as the build writes it."""
    lesson = read_lesson(course / "solutions" / "01_doubling.py")
    write_if_changed(lesson.solution_path, as_text(source_notebook(lesson)))
    write_if_changed(lesson.release_path, released(lesson, course))
    return lesson, course


def test_the_search_finds_nothing_in_a_good_release(released_course):
    assert leaks(released_course[1]) == []


def test_the_search_finds_every_secret_in_a_notebook_that_was_not_released(released_course):
    lesson, course = released_course
    lesson.release_path.write_bytes(lesson.solution_path.read_bytes())
    found = {line for _, line in leaks(course)}
    assert {
        "secret_answer = x + x",
        "return secret_answer",
        "predict_sum = 19 + 22 + 1",
        'dict(case="seventeen", x=17, want=34),',
        "hidden=[dict(x=None, want=42)],",
    } <= found


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("notes.txt", "hint: secret_answer = x + x"),
        ("02_other/02_other.ipynb", json.dumps({"metadata": {"a": ["return ", "secret_answer"]}})),
    ],
)
def test_the_search_finds_a_secret_in_any_file_and_any_part_of_it(released_course, place, text):
    path = released_course[1] / "notebooks" / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert [file for file, _ in leaks(released_course[1])] == [f"notebooks/{place}"]

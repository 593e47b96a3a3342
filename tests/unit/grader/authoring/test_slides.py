"""The lessons' drawn pictures as files: all of them, as the lessons show them, and no others."""

import json
import re
from pathlib import Path

import pytest

from grader.authoring.freshness import differences
from grader.authoring.lesson import Lesson, lessons
from grader.authoring.slides import FOLDER, slides, stale_slides
from tests.unit.course_files import ROOT
from utils import drawn

LESSONS = lessons(ROOT)
CLOCK = drawn.clock()


def outputs(lesson: Lesson) -> str:
    return lesson.solution_path.read_text(encoding="utf-8")


def lesson_with(folder: Path, *pages: str) -> Lesson:
    """Give a lesson whose last run showed these pages, on disk."""
    shown = [{"data": {"text/html": page.splitlines(keepends=True)}} for page in pages]
    lesson = Lesson("03_x", folder / "solutions" / "03_x.py", [], [])
    lesson.solution_path.parent.mkdir(parents=True)
    lesson.solution_path.write_text(json.dumps({"cells": [{"outputs": shown}, {"source": "text"}]}))
    return lesson


DRAWING = [lesson for lesson in LESSONS if "drawn." in lesson.text_path.read_text("utf-8")]


@pytest.mark.parametrize("lesson", DRAWING, ids=lambda lesson: lesson.name)
def test_every_drawn_picture_of_a_lesson_lies_in_the_folder_as_the_lesson_shows_it(lesson):
    made = slides(lesson, ROOT)
    assert len(made) == len(re.findall(r"<div class=\\\"drawn\\\"", outputs(lesson))) > 0
    assert [path for path, text in made.items() if path.read_text("utf-8") != text] == []


def test_the_folder_holds_nothing_else():
    assert stale_slides(ROOT, LESSONS) == []
    assert {path.suffix for path in (ROOT / FOLDER).iterdir()} == {".svg"}


def test_a_picture_is_called_after_its_lesson_its_place_and_its_title(tmp_path):
    lesson = lesson_with(
        tmp_path, "<p>", CLOCK._repr_html_(), "<svg><title>a verdict's</title></svg>"
    )
    (path,) = slides(lesson, tmp_path)
    assert path.relative_to(tmp_path).as_posix() == "slides/03-1-a-clock-with-a-hand-for.svg"


def test_pictures_of_a_lab_do_not_take_the_names_of_its_lessons(tmp_path):
    lab = Lesson("03b_y", tmp_path / "solutions" / "03b_y.py", [], [])
    lab.solution_path.parent.mkdir(parents=True)
    shown = [{"data": {"text/html": CLOCK._repr_html_()}}]
    lab.solution_path.write_text(json.dumps({"cells": [{"outputs": shown}]}))
    assert [path.name for path in slides(lab, tmp_path)] == ["03b-1-a-clock-with-a-hand-for.svg"]


def test_a_lesson_that_was_never_run_has_no_pictures(tmp_path):
    assert slides(Lesson("03_x", tmp_path / "03_x.py", [], []), tmp_path) == {}


def test_a_missing_a_changed_and_a_stale_picture_are_found(tmp_path):
    lesson = lesson_with(tmp_path, CLOCK._repr_html_())
    ((path, text),) = slides(lesson, tmp_path).items()

    def found() -> set[str]:
        names = [d.path.name for d in differences(tmp_path, [lesson], is_whole=True)]
        return {name for name in names if name.endswith(".svg")}

    assert found() == {path.name}
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert found() == set()
    path.write_text(text + " ", encoding="utf-8")
    (path.parent / "old.svg").write_text("")
    assert found() == {path.name, "old.svg"}

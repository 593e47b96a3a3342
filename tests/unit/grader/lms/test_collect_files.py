"""Of a download what grading reads is taken, however it is called; all else is named."""

import json

import pytest

from grader.course.hand_in_files import unread
from tests.unit.grader.lms.downloads import LESSON
from tests.unit.grader.lms.test_collect import (
    CANVAS_ADA,
    FIRST,
    collect,
    course,
    handed_in,
    newest,
    reasons,
)

__all__ = ["course"]  # a fixture

BARE = json.dumps({"cells": [{"cell_type": "code", "source": "class Other: pass\n"}]}).encode()


def without_metadata(source):
    """A notebook as Colab and Deepnote save it: no name, no id, no metadata of ours."""
    return BARE.replace(b"class Other: pass", json.dumps(source)[1:-1].encode())


@pytest.mark.parametrize(
    "source",
    ["def double(x):\n    return x", "x = 1\ndouble = lambda x: 2 * x", "double: object = None"],
)
def test_a_notebook_whose_metadata_are_gone_is_known_by_what_it_defines(course, source):
    assert collect(course, {CANVAS_ADA: without_metadata(source)}) == 0
    assert handed_in(course, "ada") == without_metadata(source)


def test_a_notebook_that_only_speaks_of_an_exercise_is_of_no_lesson(course):
    data = without_metadata("y = double(2)\nif double == 3:\n    pass\n# def double(x):")
    assert collect(course, {CANVAS_ADA: data}) == 1
    assert "none of the course's cells" in reasons(course)[CANVAS_ADA][0]


@pytest.mark.parametrize(
    "name",
    ["01_doubling.ipynb.txt", "01_doubling.json", "01_doubling (1).ipynb.json", "mine.txt", "mine",
     "01_doubling-checkpoint.ipynb", "x.IPYNB.TXT"],
)  # fmt: skip
@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_a_notebook_counts_whatever_its_name_ends_with(course, name, system):
    entry = {"canvas": "lovelaceada_11_101_", "moodle": "Ada Lovelace_71_assignsubmission_file/"}
    assert collect(course, {entry[system] + name: FIRST}, system) == 0
    assert handed_in(course, "ada") == FIRST
    assert handed_in(course, "ada", "timestamp.txt")


OTHERS = {"data.csv": b"1,2", "essay.pdf": b"%PDF", "x.py": b"import os", "x.json": b'{"a": 1}'}


def test_what_grading_does_not_read_is_named_and_not_kept(course, capsys):
    items = {f"lovelaceada_11_10{n}_{name}": x for n, (name, x) in enumerate(OTHERS.items(), 2)}
    assert collect(course, items | {CANVAS_ADA: FIRST}) == 0
    said = capsys.readouterr().out
    for entry in items:
        assert f"{entry}: grading does not read it" in said
        assert reasons(course)[entry] == ("grading does not read it", "")
    assert [path.name for path in newest(course).iterdir()] == ["reasons.csv"]
    assert "the files" not in said
    assert f"The reasons are in {newest(course).relative_to(course.folder)}/reasons.csv" in said
    there = {path.name for path in (course.folder / "submitted" / "ada" / LESSON).iterdir()}
    assert there == {f"{LESSON}.ipynb", "timestamp.txt"}
    assert unread(course.folder, "ada", LESSON) == sorted(OTHERS)


def test_who_handed_in_other_files_alone_is_told_to_whoever_grades(course):
    entry = "oneillbjorn_12_102_essay.pdf"
    assert collect(course, {entry: b"%PDF", CANVAS_ADA: FIRST}) == 1
    assert reasons(course)[entry] == ("it is not a notebook, and none came with it", "")


def test_where_some_files_are_kept_it_is_said_how_many(course, capsys):
    items = {"x_1_2_y.ipynb": FIRST, "oneillbjorn_12_102_essay.pdf": b"%PDF", CANVAS_ADA: FIRST}
    collect(course, items)
    folder = newest(course)
    assert len(list(folder.iterdir())) == 2
    where = folder.relative_to(course.folder)
    assert f"The reasons are in {where}/reasons.csv, 1 of the files beside it" in (
        capsys.readouterr().out
    )

"""What was put where grading does not look is named, with where it belongs."""

import os
from pathlib import Path

import pytest

from grader.course.notices import misplaced

LESSON = "00_start_here"


class Lesson:
    name = LESSON


class Course:
    lessons = (Lesson(),)

    def __init__(self, folder):
        self.folder = folder

    def left_out(self):
        return [ascii("x" * 200)]


def test_a_students_folder_that_cannot_be_listed_is_told(put, monkeypatch):
    put(f"dora/{LESSON}/{LESSON}.ipynb", f"emil/{LESSON}/{LESSON}.ipynb", "zoe/xyz/a.ipynb")
    scan = os.scandir

    def refusing(path):
        if Path(path).name == "emil":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert put() == [
        "not read: submitted/emil (it cannot be listed: Permission denied)",
        "not read: submitted/zoe/xyz (no such lesson)",
    ]


def test_hand_ins_that_cannot_be_listed_at_all_are_told(put, monkeypatch):
    def refusing(path):
        raise OSError(5, "Input/output error", str(path))

    put(f"dora/{LESSON}/{LESSON}.ipynb")
    monkeypatch.setattr(os, "scandir", refusing)
    assert put() == ["not read: submitted (it cannot be listed: Input/output error)"]


@pytest.fixture
def put(tmp_path):
    """What writes an empty file below submitted/, and tells what is not read."""

    def written(*paths):
        for path in paths:
            file = tmp_path / "submitted" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        return misplaced(Course(tmp_path))

    return written


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (
            f"dora/00_start/{LESSON}.ipynb",
            f"submitted/dora/00_start (no such lesson; did you mean {LESSON}?)",
        ),
        (f"dora/xyz/{LESSON}.ipynb", "submitted/dora/xyz (no such lesson)"),
        (
            f"emil/{LESSON}.ipynb",
            f"submitted/emil/{LESSON}.ipynb (its place is submitted/emil/{LESSON}/)",
        ),
        (
            f"emil/{LESSON}.ipynb.txt",
            f"submitted/emil/{LESSON}.ipynb.txt (its place is submitted/emil/{LESSON}/)",
        ),
        ("emil/mine.IPYNB", "submitted/emil/mine.IPYNB (its place is submitted/emil/<lesson>/)"),
        (
            f"{LESSON}.ipynb",
            f"submitted/{LESSON}.ipynb (its place is submitted/<student>/<lesson>/<lesson>.ipynb)",
        ),
        (
            f"{LESSON}/emil.ipynb",
            f"submitted/{LESSON}/emil.ipynb (its place is "
            "submitted/<student>/<lesson>/<lesson>.ipynb)",
        ),
    ],
)
def test_what_lies_in_the_wrong_place_is_named_with_the_right_one(put, path, told):
    assert put(path) == [f"not read: {told}"]


def test_what_is_read_hidden_told_already_or_no_notebook_is_not_named(put):
    assert put(f"ada/{LESSON}/{LESSON}.ipynb", f"ada/.{LESSON}.new/{LESSON}.ipynb",
               "ada/.DS_Store", ".gitkeep", "notes.txt", "ada/notes.txt", "x" * 200 + "/00/a",
               f"ada/{LESSON}/timestamp.txt") == []  # fmt: skip


def test_what_lies_beside_a_notebook_is_named(put):
    beside = "grading reads the notebook alone"
    assert put(f"ada/{LESSON}/{LESSON}.ipynb", f"ada/{LESSON}/data.csv", f"ada/{LESSON}/d/x",
               f"ada/{LESSON}/predictions.txt", f"ada/{LESSON}/.hidden") == [
        f"not read: submitted/ada/{LESSON}/d ({beside})",
        f"not read: submitted/ada/{LESSON}/data.csv ({beside})",
    ]  # fmt: skip


def test_a_notebook_by_another_name_is_read_and_not_named(put, tmp_path):
    put(f"ada/{LESSON}/data.csv")
    (tmp_path / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb.txt").write_text('{"cells": []}')
    assert [text.partition(" (")[0] for text in put()] == [
        f"not read: submitted/ada/{LESSON}/data.csv"
    ]


def test_a_repository_as_github_classroom_clones_it_is_read_where_its_notebook_lies(put):
    files = (".git/HEAD", ".github/classroom/autograding.json", ".gitignore", "README.md")
    told = put(*(f"ada/{LESSON}/{name}" for name in (*files, f"{LESSON}.ipynb")))
    assert [text.partition(" (")[0] for text in told] == [
        f"not read: submitted/ada/{LESSON}/README.md"
    ]


def test_links_are_not_followed(put, tmp_path):
    put(f"dora/00_start/{LESSON}.ipynb")
    (tmp_path / "submitted" / "dora").rename(tmp_path / "elsewhere")
    (tmp_path / "submitted" / "dora").symlink_to(tmp_path / "elsewhere")
    assert put() == []


def test_of_many_the_first_are_named_and_the_others_counted(put):
    told = put(*(f"s{n:03}/00_start/x" for n in range(200)))
    assert [words.split(" (")[0] for words in told[:2]] == [
        "not read: submitted/s000/00_start", "not read: submitted/s001/00_start",
    ]  # fmt: skip
    assert told[2:] == [
        "not read: 198 more; a hand-in's place is submitted/<student>/<lesson>/<lesson>.ipynb"
    ]


def test_a_name_that_would_steer_the_terminal_is_written_as_codes(put):
    assert put("ada/\x1b[2J/x")[0].startswith(r"not read: submitted/ada/\x1b[2J (")


def test_without_a_folder_nothing_is_told(tmp_path):
    assert misplaced(Course(tmp_path)) == []

"""An odd hand-in stops no archive: what grading reads of it is kept, the rest is told."""

import os
import re
import resource
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from grader.cli import main
from grader.course.archive import archive
from grader.course.hand_in_files import NOT_READ
from tests.unit.grader.course.test_archive import NAME, course, read
from tests.unit.grader.lms.downloads import LESSON
from tests.unit.grader.odd_files import nested, opening_fails

__all__ = ["course"]  # a fixture
FILE = f"{LESSON}.ipynb"


def hand_in(course, student, text="their own"):
    """Make a folder with a notebook."""
    folder = course.folder / "submitted" / student / LESSON
    folder.mkdir(parents=True)
    (folder / FILE).write_text(text)
    return folder


def kept(course, top="submitted"):
    """Path below a folder -> content, of all that the archive has of it."""
    (made,) = course.folder.glob("archive/*.tar.gz")
    with tarfile.open(made) as tar:
        parts = {e.name.partition("/")[2]: tar.extractfile(e).read() for e in tar}
    start = f"{top}/"
    return {k.removeprefix(start): v for k, v in parts.items() if k.startswith(start)}


def listing_fails(monkeypatch, folder):
    scan, listed = os.scandir, Path.iterdir

    def refuse(path):
        if str(path) == str(folder):
            raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", lambda path: refuse(path) or scan(path))
    monkeypatch.setattr(Path, "iterdir", lambda path: refuse(path) or listed(path))


def told(capsys):
    return [x for x in capsys.readouterr().out.splitlines() if x.startswith(("Not in", "..."))]


def test_folders_nested_without_end_are_left_out_and_told(course, capsys):
    with nested(hand_in(course, "eve")):
        assert main(["archive"]) == 0
    assert told(capsys) == [f"Not in the archive: submitted/eve/{LESSON}/d: {NOT_READ}."]
    assert kept(course)[f"eve/{LESSON}/{FILE}"] == b"their own"
    assert f"ada/{LESSON}/{FILE}" in kept(course)


def test_a_file_of_holes_takes_neither_memory_nor_the_place_of_another(course, capsys):
    folder = hand_in(course, "eve")
    with (folder / "data.ipynb").open("wb") as file:
        file.truncate(20 << 30)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limits[1]))
    try:
        assert main(["archive"]) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    name = f"submitted/eve/{LESSON}/data.ipynb"
    assert told(capsys) == [f"Not in the archive: {name}: it is larger than 32 MiB."]
    assert kept(course).keys() == {f"eve/{LESSON}/{FILE}", f"ada/{LESSON}/{FILE}"}


def test_what_grading_reads_is_kept_and_the_rest_is_counted_for_each_student(course, capsys):
    read = (FILE, "timestamp.txt", "submission_secret.txt", "predictions.txt")
    for student in ("eve", "finn"):
        folder = hand_in(course, student)
        for name in (*read[1:], *(f"!{number:02}" for number in range(60))):
            (folder / name).write_text("x")
    assert main(["archive"]) == 0
    lines = told(capsys)
    for student, some in (("eve", lines[:4]), ("finn", lines[4:])):
        names = [re.findall(r"submitted/(\w+)/.*/(!\d\d):", text) for text in some]
        assert names == [[(student, f"!0{number}")] for number in range(3)] + [[]]
        assert some[0].endswith(f": {NOT_READ}.")
        assert some[3] == "... and 57 more like this"
        there = {name for name in kept(course) if name.startswith(student)}
        assert there == {f"{student}/{LESSON}/{name}" for name in read}


@pytest.mark.parametrize("name", [f"{LESSON} (1).ipynb", f"{LESSON}.json", "mine.txt"])
def test_a_notebook_that_is_graded_under_another_name_is_kept(course, name):
    (hand_in(course, "eve", '{"cells": []}') / FILE).rename(
        course.folder / "submitted" / "eve" / LESSON / name
    )
    assert main(["archive"]) == 0
    assert kept(course)[f"eve/{LESSON}/{name}"] == b'{"cells": []}'


def test_a_pipe_and_a_hand_in_that_came_in_place_of_another_are_met_alike(course, capsys):
    os.mkfifo(hand_in(course, "eve") / "pipe.ipynb")
    replaced = course.folder / "lms" / "replaced" / LESSON / "eve" / "2026-11-22-120000"
    (replaced / "more").mkdir(parents=True)
    (replaced / FILE).write_text("the older one")
    with nested(replaced / "more"):
        assert main(["archive"]) == 0
    inside = f"replaced/{LESSON}/eve/2026-11-22-120000"
    assert told(capsys) == [
        f"Not in the archive: submitted/eve/{LESSON}/pipe.ipynb: it is no plain file.",
        f"Not in the archive: lms/{inside}/more: {NOT_READ}.",
    ]
    assert kept(course, "lms")[f"{inside}/{FILE}"] == b"the older one"


def test_what_was_put_in_the_wrong_place_is_kept_too(course):
    course_files = {"emil.ipynb": "a", f"emil/{FILE}": "b", f"emil/01_dubling/{FILE}": "c"}
    for path, text in course_files.items():
        file = course.folder / "submitted" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert main(["archive"]) == 0
    found = kept(course)
    assert {path: found[path].decode() for path in course_files} == course_files


@pytest.mark.parametrize("part", [FILE, "eve", LESSON], ids=["file", "student", "folder"])
def test_what_cannot_be_read_of_a_hand_in_is_told_and_all_else_is_kept(
    course, monkeypatch, capsys, part
):
    hand_in(course, "eve")
    opening_fails(monkeypatch, part, below="submitted/eve")
    if part == "eve":
        listing_fails(monkeypatch, course.folder / "submitted" / "eve")
    assert main(["archive"]) == 1
    (line,) = told(capsys)
    assert line.startswith("Not in the archive: submitted/eve")
    assert ": it cannot be read (Permission denied). Give yourself the right to read it, " in line
    assert kept(course).keys() == {f"ada/{LESSON}/{FILE}"}


def test_a_folder_of_the_course_that_cannot_be_listed_stops_the_archive(
    course, monkeypatch, capsys
):
    """That is no hand-in: an archive without it is not the class's whole record."""
    listing_fails(monkeypatch, course.folder / "feedback" / "ada")
    assert main(["archive"]) == 1
    told = capsys.readouterr().err
    assert "feedback/ada cannot be used: Permission denied. Check that" in told
    assert [path for path in (course.folder / "archive").iterdir() if path.is_file()] == []


def test_a_large_file_of_the_course_is_never_whole_in_memory(course):
    report = course.folder / "report" / "large.bin"
    report.write_bytes(b"x" * (16 << 20))
    tracemalloc.start()
    try:
        made = archive(course, NAME)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    assert read(made.path)["report/large.bin"] == b"x" * (16 << 20)

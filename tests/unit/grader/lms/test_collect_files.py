"""Of a download what grading reads is taken, however it is called; all else is named."""

import json
import os
from datetime import timedelta

import pytest

from grader.course.hand_in_files import unread
from grader.lms import collecting
from tests.unit.grader.lms.downloads import LESSON, NOON, Item, write_zip
from tests.unit.grader.lms.test_collect import (
    CANVAS_ADA,
    FIRST,
    collect,
    course,
    handed_in,
    newest,
    reasons,
    students,
    time_of,
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


@pytest.mark.parametrize(
    ("system", "entry"),
    [
        ("canvas", "all\\lovelaceada_11_101_x.ipynb"),
        ("canvas", "lovelace\u200eada_11_101_x.ipynb"),
        ("canvas", "\u200flovelaceada_11_101_x\u200e.ipynb"),
        ("moodle", "Ada Lovelace_71_assignsubmission_file\\x.ipynb"),
        ("moodle", "all\\Ada Lovelace_71_assignsubmission_file\\x.ipynb"),
        ("moodle", "Ada\u200e Lovelace\u200f_71_assignsubmission_file/x.ipynb"),
    ],
)
def test_a_download_that_went_through_other_hands_is_the_class_all_the_same(course, system, entry):
    assert collect(course, {entry: FIRST}, system) == 0
    assert handed_in(course, "ada") == FIRST


@pytest.mark.parametrize(
    "entry", ["nobody\u200eeve_98_400_x.ipynb", "\u200fnobodyeve_98_400_x.ipynb"]
)
def test_a_name_with_marks_that_nobody_sees_is_the_same_name(course, entry):
    assert collect(course, {entry: FIRST}) == 0
    assert students(course) == ["eve"]


def test_a_backslash_in_a_file_name_takes_nobodys_place_in_canvas(course):
    disguised = "lovelaceada_11_101_x\\oneillbjorn_12_102_01_doubling.ipynb"
    assert collect(course, {disguised: FIRST}) == 1
    assert students(course) == []
    assert "can be read in several ways" in reasons(course)[disguised.replace("\\", "/")][0]


def test_a_backslash_in_a_file_name_takes_nobodys_place_in_moodle(course):
    inner = "Björn O'Neill_72_assignsubmission_file\\01_doubling.ipynb"
    for shape in ("/{}", "_{}"):
        entry = "Ada Lovelace_71_assignsubmission_file" + shape.format(inner)
        assert collect(course, {entry: FIRST}, "moodle") == 0
    assert students(course) == ["ada"]


@pytest.mark.parametrize(
    "shape", ["{}_assignsubmission_onlinetext/{}", "{}_assignsubmission_onlinetext_{}"]
)
def test_what_students_typed_into_moodle_is_named_and_is_no_fault(course, capsys, shape):
    typed = shape.format("Björn O'Neill_72", "onlinetext.html")
    ada = "Ada Lovelace_71_assignsubmission_file/x.ipynb"
    assert collect(course, {typed: b"<p>Hello", ada: FIRST}, "moodle") == 0
    assert reasons(course)[typed] == ("it was typed into a form: grading does not read it", "")
    assert "Nothing from 5 students: =cleo, b,en" in capsys.readouterr().out


def test_where_canvas_hides_names_it_is_said_what_to_do(course):
    entry = "anon_aB3xY_101_x.ipynb"
    assert collect(course, {entry: FIRST}) == 1
    assert "the assignment is anonymous: make the names visible" in reasons(course)[entry][0]
    assert reasons(course)[entry][1] != ""


@pytest.mark.parametrize(
    ("name", "content", "is_kept"),
    [("essay.pdf", b"%PDF", False), ("x.json", b"{}", False), ("x.ipynb", b"{", True),
     ("x.json", FIRST, True), ("predictions.txt", b"A B", True), ("x.zip", b"PK\x03\x04", True)],
)  # fmt: skip
def test_of_strangers_what_may_be_work_is_kept_and_all_else_is_named(
    course, name, content, is_kept
):
    entry = f"doejane_99_400_{name}"
    assert collect(course, {entry: content, CANVAS_ADA: FIRST}) == 1
    reason, kept = reasons(course)[entry]
    assert "nobody in the roster is doejane" in reason
    assert bool(kept) is is_kept
    if is_kept:
        assert (newest(course) / kept).read_bytes() == content


def zipped(folder, items):
    return write_zip(folder / "inner.zip", items).read_bytes()


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_a_notebook_in_a_students_own_zip_counts_when_that_was_handed_in(
    course, tmp_path, system, capsys
):
    inner = zipped(tmp_path, {
        "mine/mine.ipynb": Item(FIRST, NOON - timedelta(days=9)), "mine/data.csv": b"1,2",
        "mine/.ipynb_checkpoints/mine-checkpoint.ipynb": FIRST, "__MACOSX/mine/._mine.ipynb": b"x",
    })  # fmt: skip
    entry = {
        "canvas": "lovelaceada_11_101_w.zip",
        "moodle": "Ada Lovelace_71_assignsubmission_file/w.zip",
    }
    assert collect(course, {entry[system]: inner}, system) == 0
    assert handed_in(course, "ada") == FIRST
    assert time_of(course, "ada") == NOON.replace(tzinfo=None)
    assert unread(course.folder, "ada", LESSON) == ["data.csv"]
    assert f"{entry[system]}: grading does not read it (data.csv)" in capsys.readouterr().out
    records = course.folder / "lms" / system / f"{LESSON}.json"
    assert json.loads(records.read_text())["ada"]["entry"] == entry[system]


@pytest.mark.parametrize(
    "items",
    [
        {"a.ipynb": FIRST, "b.ipynb": FIRST},
        {"a.zip": b"PK\x03\x04"},
        {"../a.ipynb": FIRST},
    ],
)
def test_a_students_zip_that_leaves_a_choice_is_kept_whole(course, tmp_path, items):
    inner = zipped(tmp_path, items)
    entry = "lovelaceada_11_101_w.zip"
    assert collect(course, {entry: inner}) == 1
    assert "an archive in the archive" in reasons(course)[entry][0]
    assert (newest(course) / reasons(course)[entry][1]).read_bytes() == inner


def test_a_document_of_an_office_is_not_read_though_it_is_an_archive(course, tmp_path):
    inner = zipped(tmp_path, {"word/document.xml": b"<w>", "_rels/.rels": b"<r>"})
    entry = "lovelaceada_11_102_essay.docx"
    assert collect(course, {entry: inner, CANVAS_ADA: FIRST}) == 0
    assert reasons(course)[entry] == ("grading does not read it", "")


def test_a_students_zip_takes_no_more_room_than_is_given(course, tmp_path, monkeypatch):
    monkeypatch.setattr(collecting, "MOST_INSIDE", 1000)
    inner = zipped(tmp_path, {"big.bin": os.urandom(2000), "a.ipynb": FIRST})
    assert collect(course, {"lovelaceada_11_101_w.zip": inner}) == 0
    assert handed_in(course, "ada") == FIRST

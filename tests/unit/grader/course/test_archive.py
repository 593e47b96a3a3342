"""The archive of a semester: everything of a class, closed to others, whole or not at all."""

import hashlib
import json
import shutil
import stat
import tarfile
from contextlib import closing
from sqlite3 import connect

import pytest

from grader.cli import main
from grader.course import archive as module
from grader.course.archive import CONTENTS, archive
from grader.course.private import ARCHIVE, FOLDERS
from grader.errors import CourseError
from grader.gradebook.backups import FOLDER as BACKUPS
from hub.passwords import FILE as PASSWORDS
from tests.unit.grader.lms.downloads import LESSON, small_course

NAME = "class-2026"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with a file in every folder that holds names or grades."""
    monkeypatch.chdir(tmp_path)
    course = small_course(tmp_path)
    for folder in FOLDERS:
        home = tmp_path / folder / "ada" / LESSON
        home.mkdir(parents=True)
        (home / f"{LESSON}.ipynb").write_text(f"ada's {folder}")
    (tmp_path / "course_secret.txt").write_text("9f86d081884c7d659a2feaa0c55ad015")
    return course


def read(path):
    """Path inside -> content."""
    with tarfile.open(path) as tar:
        return {e.name.removeprefix(f"{NAME}/"): tar.extractfile(e).read() for e in tar}


def test_it_holds_every_folder_of_the_class_but_backups_and_archives(course):
    found = read(archive(course, NAME).path)
    wanted = [name for name in FOLDERS if name not in (BACKUPS, ARCHIVE)]
    assert len(wanted) >= 6
    for folder in wanted:
        assert found[f"{folder}/ada/{LESSON}/{LESSON}.ipynb"].decode() == f"ada's {folder}"
    assert {name.partition("/")[0] for name in found} == {
        *wanted, "solutions", "course_secret.txt", "nbgrader_config.py", "roster.csv",
        "gradebook.db", CONTENTS,
    }  # fmt: skip


def test_a_hubs_first_passwords_are_left_out_and_the_other_lists_are_not(course):
    (course.folder / PASSWORDS).write_text("name,password\nada,in the clear\n")
    (course.folder / "class.csv").write_text("student_id\nada\n")
    found = read(archive(course, NAME).path)
    assert PASSWORDS not in found
    assert {"class.csv", "roster.csv"} <= found.keys()


def test_its_help_says_that_the_secret_is_in_it(course, capsys):
    with pytest.raises(SystemExit):
        main(["archive", "--help"])
    assert "the class's secret included" in " ".join(capsys.readouterr().out.split())


def test_what_a_killed_run_had_half_written_is_removed(course):
    home = archive(course, NAME).path.parent
    (home / ".new-half").write_bytes(b"half of it")
    archive(course, "another")
    left = {path.name for path in home.iterdir() if path.is_file()}
    assert left == {f"{NAME}.tar.gz", "another.tar.gz"}


def test_its_gradebook_opens_and_its_list_has_every_files_digest(course, tmp_path):
    found = read(archive(course, NAME).path)
    digests = json.loads(found.pop(CONTENTS))
    assert digests == {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}
    (tmp_path / "copy.db").write_bytes(found["gradebook.db"])
    with closing(connect(tmp_path / "copy.db")) as gradebook:
        assert gradebook.execute("SELECT COUNT(*) FROM student").fetchone() == (0,)


def test_nobody_else_may_read_it(course):
    made = archive(course, NAME)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


def test_a_link_is_told_and_not_followed(course, capsys):
    link = course.folder / "submitted" / "ada" / LESSON / "notes.txt"
    link.symlink_to("/etc/passwd")
    assert main(["archive"]) == 0
    assert f"Links are not kept: submitted/ada/{LESSON}/notes.txt" in capsys.readouterr().out
    (made,) = course.folder.glob("archive/*.tar.gz")
    with tarfile.open(made) as tar:
        assert not any(name.endswith("notes.txt") for name in tar.getnames())


def test_a_second_one_of_the_day_takes_the_firsts_place(course):
    first = archive(course, NAME)
    (course.folder / "course_secret.txt").write_text("a3bf4f1b2b0b822cd15d6c15b0f00a08")
    assert archive(course, NAME).path == first.path
    assert read(first.path)["course_secret.txt"] == b"a3bf4f1b2b0b822cd15d6c15b0f00a08"


def test_one_that_cannot_be_read_back_does_not_replace_the_one_before(course, monkeypatch):
    path = archive(course, NAME).path
    before = path.read_bytes()
    write = module._write

    def cut_off(stream, *arguments):
        digests = write(stream, *arguments)
        stream.truncate(stream.tell() // 2)
        return digests

    monkeypatch.setattr(module, "_write", cut_off)
    with pytest.raises(CourseError, match="cannot be read back"):
        archive(course, NAME)
    assert path.read_bytes() == before
    assert [p for p in path.parent.iterdir() if p.name.startswith(".new-")] == []


def test_one_that_holds_something_else_does_not_count(course, monkeypatch):
    write = module._write
    monkeypatch.setattr(
        module, "_write", lambda *arguments: write(*arguments) | {"gradebook.db": "other"}
    )
    with pytest.raises(CourseError, match="is not what was written"):
        archive(course, NAME)
    assert not (course.folder / ARCHIVE / f"{NAME}.tar.gz").exists()


def test_with_nothing_handed_in_it_says_when_to_come_back(course, capsys):
    shutil.rmtree(course.folder / "submitted")
    assert main(["archive"]) == 1
    assert "An archive is made when a semester ends" in capsys.readouterr().err
    assert not list(course.folder.glob("archive/*.tar.gz"))


def test_that_there_is_no_gradebook_yet_is_told(course, monkeypatch, capsys):
    monkeypatch.setattr(module.backups, "back_up", lambda *_arguments: None)
    assert main(["archive"]) == 0
    assert "There is no gradebook yet" in capsys.readouterr().out

"""A hand-in that the grader cannot read is the grader's failure, on that submission alone."""

import errno
import os
from contextlib import contextmanager

import pytest

from grader.course import nbgrader_autograde
from grader.course.graded_copies import read_copy
from grader.course.nbgrader_autograde import is_current
from grader.grading import batch
from grader.grading.batch import autograde
from grader.pages.feedback import without_page, write_feedback
from tests.unit.grader.odd_files import as_ordinary_user, open_to_all, opening_fails
from tests.unit.grader.pages.graded_class import LESSON, TOTAL, outcome

FILE = f"{LESSON}.ipynb"
THREE = [(student, LESSON) for student in ("ada", "eve", "finn")]


class AllRight:
    """An engine for which every hand-in that it gets is right."""

    @contextmanager
    def opened(self, _count, _scratch):
        yield lambda items: ((place, outcome()) for place, _ in enumerate(items))


@pytest.fixture
def handed_in(made, monkeypatch):
    """Three hand-ins of a class whose lessons are in the gradebook already."""
    monkeypatch.setattr(batch, "_record_lessons", lambda *_: None)
    for student, _ in THREE:
        folder = made.course.folder / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        (folder / FILE).write_text(student)
    return made.course


def graded(course, *, regrade=False):
    return autograde(course, THREE, engine=AllRight(), regrade=regrade).outcomes


def scores(course):
    records = course.book().of(LESSON)
    return {record.student: record.total if record.has_score else None for record in records}


@pytest.mark.parametrize("part", [FILE, LESSON, "timestamp.txt"], ids=["file", "folder", "time"])
def test_it_is_a_grader_error_without_a_score_and_the_others_are_graded(
    handed_in, monkeypatch, part
):
    (handed_in.folder / "submitted" / "eve" / LESSON / "timestamp.txt").write_text("2026-11-20")
    opening_fails(monkeypatch, part, below="submitted/eve")
    found = graded(handed_in)
    assert [found[key].status for key in THREE] == ["graded", "grader error", "graded"]
    assert scores(handed_in) == {"ada": TOTAL, "eve": None, "finn": TOTAL}


def test_the_file_the_reason_and_what_helps_are_told(handed_in, monkeypatch):
    opening_fails(monkeypatch, FILE, errno.EACCES, below="submitted/eve")
    (note,) = graded(handed_in)["eve", LESSON].notes
    assert note == (
        f"The grader could not read submitted/eve/{LESSON}/{FILE} (Permission denied), so there "
        "is no score yet. Whoever grades: give yourself the right to read it, then grade again."
    )
    copy = read_copy(handed_in.folder, "eve", LESSON)
    assert (copy.status, copy.notes) == ("grader error", (note,))


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EMFILE])
def test_where_none_can_be_read_none_has_a_zero(handed_in, monkeypatch, number):
    opening_fails(monkeypatch, FILE, number, below="submitted")
    assert {x.status for x in graded(handed_in).values()} == {"grader error"}
    assert set(scores(handed_in).values()) == {None}


def test_once_it_can_be_read_the_same_command_grades_it_and_no_other(handed_in):
    with pytest.MonkeyPatch.context() as patched:
        opening_fails(patched, FILE, below="submitted/eve")
        graded(handed_in)
    assert list(graded(handed_in)) == [("eve", LESSON)]
    assert scores(handed_in) == {"ada": TOTAL, "eve": TOTAL, "finn": TOTAL}


def test_one_that_was_graded_before_stops_nobody_either(handed_in, monkeypatch):
    graded(handed_in)
    (handed_in.folder / "submitted" / "finn" / LESSON / FILE).write_text("newer")
    opening_fails(monkeypatch, FILE, below="submitted/eve")
    found = graded(handed_in)
    assert {key[0]: x.status for key, x in found.items()} == {
        "eve": "grader error", "finn": "graded",
    }  # fmt: skip


def write_pages(course):
    book = course.book()
    write_feedback(course, without_page(course, THREE, book), book)


def test_its_page_is_written_and_says_why(handed_in, monkeypatch):
    opening_fails(monkeypatch, LESSON, below="submitted/eve")
    graded(handed_in)
    write_pages(handed_in)
    page = (handed_in.folder / "feedback" / "eve" / LESSON / f"{LESSON}.html").read_text()
    assert "(Permission denied), so there is no score yet" in page
    assert without_page(handed_in, THREE, handed_in.book()) == []


def test_a_graded_copy_that_cannot_be_read_is_told_and_the_other_pages_are_written(
    handed_in, monkeypatch
):
    graded(handed_in)
    opening_fails(monkeypatch, FILE, below="autograded/eve")
    with pytest.raises(Exception, match=r"eve's 02_attention: .*cannot be read \(Permission"):
        write_pages(handed_in)
    pages = sorted((handed_in.folder / "feedback").glob("*/*/*.html"))
    assert [page.parts[-3] for page in pages] == ["ada", "finn"]


@pytest.mark.parametrize("closed", [".", LESSON, f"{LESSON}/{FILE}"])
def test_an_ordinary_user_loses_no_hand_in_whatever_is_closed(made, closed):
    """A student's own folder that cannot be listed is told elsewhere: what is in it is unknown."""
    with open_to_all() as place:

        def look() -> None:
            home = place / "submitted" / "eve"
            (home / LESSON).mkdir(parents=True)
            (home / LESSON / FILE).write_text("eve")
            (home / closed).chmod(0o400 if closed == "." else 0)
            vars(made.course)["folder"] = place
            (place / "found").write_text(repr(made.course.submitted()))
            home.chmod(0o700)

        as_ordinary_user(look)
        assert (place / "found").read_text() == repr([("eve", LESSON)])


def test_by_nbgraders_own_signs_what_cannot_be_looked_at_is_not_current():
    with open_to_all() as place:

        def look() -> None:
            for step in ("submitted", "autograded"):
                folder = place / step / "eve" / LESSON
                folder.mkdir(parents=True)
                for name in (FILE, "timestamp.txt"):
                    (folder / name).write_text("the same")
            before = is_current(place, "eve", LESSON)
            (place / "submitted" / "eve" / LESSON).chmod(0)
            (place / "found").write_text(repr([before, is_current(place, "eve", LESSON)]))
            (place / "submitted" / "eve" / LESSON).chmod(0o700)

        as_ordinary_user(look)
        assert (place / "found").read_text() == "[True, False]"


def test_by_nbgraders_own_signs_a_newer_notebook_is_not_current_and_what_lies_beside_says_nothing(
    tmp_path,
):
    given, made = (tmp_path / step / "eve" / LESSON / FILE for step in ("submitted", "autograded"))
    for path in (given, made):
        path.parent.mkdir(parents=True)
        path.touch()
    os.utime(made, (1000, 1000))
    assert not is_current(tmp_path, "eve", LESSON)
    os.utime(given, (900, 900))
    (given.parent / "data.csv").touch()
    assert is_current(tmp_path, "eve", LESSON)
    given.unlink()
    assert not is_current(tmp_path, "eve", LESSON)


def test_nbgraders_own_engine_tells_it_without_a_traceback_and_goes_on(handed_in, monkeypatch):
    begun = []
    monkeypatch.setattr(nbgrader_autograde, "run_converter", lambda *given: begun.append(given))
    opening_fails(monkeypatch, FILE, below="submitted/eve")
    (failure,) = nbgrader_autograde.autograde(handed_in, THREE)
    assert failure == (
        f"eve's {LESSON} could not be graded: {handed_in.folder}/submitted/eve/{LESSON}/{FILE} "
        "cannot be read (Permission denied). Give yourself the right to read it, then grade again."
    )
    assert len(begun) == 2

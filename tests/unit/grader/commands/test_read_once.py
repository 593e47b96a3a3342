"""A command reads the gradebook once, and each graded copy once: what it read is handed on."""

from collections import Counter

import pytest

from grader.cli import main
from grader.commands import export, grade, release, report
from grader.course import book, course
from grader.grading.batch import Run
from tests.unit.grader.pages.graded_class import LESSON, NO_SCALING, wrong

ATTEND = "scaled_dot_product_attention"
STUDENTS = ("ada", "ben", "cleo")


@pytest.fixture
def reads(made, monkeypatch):
    """What is read by the next command, counted; "gradebook", or whose copy."""
    for student in STUDENTS:
        (made.course.folder / "submitted" / student / LESSON).mkdir(parents=True)
        made.add(student, wrong(ATTEND, 5, NO_SCALING))
    found: Counter[str] = Counter()
    of_book, of_copy = course.read_book, book.read_copy

    def counted_book(*arguments):
        found["gradebook"] += 1
        return of_book(*arguments)

    def counted_copy(folder, student, lesson):
        found[student] += 1
        return of_copy(folder, student, lesson)

    monkeypatch.setattr(course, "read_book", counted_book)
    monkeypatch.setattr(book, "read_copy", counted_copy)
    for module in (export, grade, release, report):
        monkeypatch.setattr(module, "find_root", lambda _: made.course.folder)
        monkeypatch.setattr(module, "GradingCourse", lambda *_: made.course)
    monkeypatch.setattr(export, "lessons", lambda *_: [made.lesson])
    monkeypatch.setattr(report, "lessons", lambda *_: [made.lesson])
    monkeypatch.setattr(grade, "run_engine", lambda *_: Run())
    return found


@pytest.mark.parametrize("form", ["canvas", "moodle", "csv"])
def test_an_export_reads_the_gradebook_once(reads, tmp_path, form):
    main(["export", form, "--out", str(tmp_path / "out.csv")])
    assert reads["gradebook"] == 1
    assert max(reads[student] for student in STUDENTS) <= 1


def test_a_report_reads_the_gradebook_and_each_copy_once(reads):
    assert main(["report"]) == 0
    assert reads == dict.fromkeys(("gradebook", *STUDENTS), 1)


def test_a_release_reads_the_gradebook_and_each_copy_once(reads):
    assert main(["release"]) == 0
    assert reads == dict.fromkeys(("gradebook", *STUDENTS), 1)


def test_after_grading_table_summary_and_pages_come_of_one_reading(reads, made):
    """The due dates were read before, when nothing was collected yet."""
    assert main(["grade"]) == 0
    assert reads == {"gradebook": 2, **dict.fromkeys(STUDENTS, 1)}
    assert made.page("ada").is_file()

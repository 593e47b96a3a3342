"""A class of any size on at most 40 lines."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.course import report as module
from grader.course.book import Book, Mark, Record
from grader.course.graded_copies import GradedCopy
from grader.course.report import summary as of_book

DUE = datetime(2026, 11, 20)
NOTES = ("The file is no notebook.", "x" * 200)
STATUSES = ("timed out", "crashed", "malformed", "grader error", "not graded")


class Lesson:
    def __init__(self, number):
        self.name, self.points = f"{number:02}_lesson", 10.0


class Course:
    folder = None
    lessons = tuple(Lesson(number) for number in range(30))


@pytest.fixture
def status_of(monkeypatch):
    """Every lesson has 500 students with 8 points, two of them with none; statuses go by name."""
    statuses: dict[str, str] = {}

    def copy(_folder, student, _lesson):
        status = statuses.get(student, "graded")
        return None if status == "not graded" else GradedCopy(status, notes=NOTES)

    monkeypatch.setattr("grader.course.book.read_copy", copy)
    monkeypatch.setattr(module, "misplaced", lambda course: [])
    monkeypatch.setattr(module, "notices", lambda course, book: [])
    monkeypatch.setattr(module, "absent", lambda course, book: {})
    return statuses


def records(lesson):
    for n in range(500):
        points = {"a": 5.0, "b": -5.0 if n in (1, 2) else 3.0}
        marks = {name: Mark(score, None, 0.0, 5.0) for name, score in points.items()}
        late = {"handed_in": DUE + timedelta(minutes=n < 4), "due": DUE}
        yield Record(Path(), f"s{n:03}", lesson, marks=marks, **late)


def summary(course, *, is_empty=False):
    lessons = [] if is_empty else [lesson.name for lesson in course.lessons]
    found = {(x.student, x.lesson): x for name in lessons for x in records(name)}
    return of_book(course, Book(Path(), {}, {}, found))


def test_a_large_class_in_many_lessons_fits_on_forty_lines(status_of):
    status_of |= {f"s{n:03}": STATUSES[n % 5] for n in range(300)}
    lines = summary(Course())
    assert len(lines) + 19 <= 40  # what `grade` prints at most beside these
    assert max(map(len, lines)) < 250


def test_means_and_counts_leave_out_what_has_no_score(status_of):
    status_of |= {"s001": "grader error", "s002": "not graded", "s003": "malformed"}
    lines = summary(Course())
    assert lines[1].split() == ["00_lesson", "500", "4", "8.00", "of", "10"]
    assert "  grader error: s001 00_lesson, s001 01_lesson" in "\n".join(lines)
    assert "14910 graded, 30 grader error, 30 not graded, 30 malformed" in "\n".join(lines)


def test_a_class_without_trouble_needs_no_look(status_of):
    assert "Needs a look" not in "\n".join(summary(Course()))


def test_what_was_noticed_needs_a_look_even_where_nothing_is_graded(status_of, monkeypatch):
    monkeypatch.setattr(module, "notices", lambda course, book: ["score by hand differs"])
    assert summary(Course())[-2:] == ["Needs a look:", "  score by hand differs"]
    assert summary(Course(), is_empty=True)[1:] == ["Needs a look:", "  score by hand differs"]


def test_who_handed_in_nothing_is_named_on_the_lessons_line_and_many_are_counted(
    status_of, monkeypatch
):
    missed = {"00_lesson": ["dora", "e\x1b"], "01_lesson": [f"t{n:03}" for n in range(500)]}
    monkeypatch.setattr(module, "absent", lambda course, book: missed)
    lines = summary(Course())
    assert lines[1].endswith(r" of 10   nothing handed in: dora, e\x1b")
    assert lines[2].endswith(" of 10   nothing handed in: t000, t001, t002, and 497 more")
    assert lines[3].endswith(" of 10")


def test_of_a_malformed_hand_in_the_reason_is_told(status_of, monkeypatch):
    monkeypatch.setattr(Course, "lessons", Course.lessons[:1])
    status_of["s003"] = "malformed"
    assert summary(Course())[-1] == "    s003 00_lesson: The file is no notebook."


def test_of_many_malformed_hand_ins_it_is_told_where_the_reasons_are(status_of):
    status_of["s003"] = "malformed"
    assert summary(Course())[-1] == "    and 29 more, whose feedback pages say why"


def test_only_malformed_hand_ins_have_their_reason_there(status_of):
    status_of |= {"s001": "crashed", "s002": "grader error", "s003": "not graded"}
    assert "no notebook" not in "\n".join(summary(Course()))

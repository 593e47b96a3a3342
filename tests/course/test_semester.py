"""The semester that `bench` measures, with a class of four and three lessons."""

from collections import Counter
from datetime import datetime

import pytest

from bench.semester.commands import Semester, look
from bench.semester.people import WAYS, Student, due, hand_ins, kept_share, way
from bench.semester.whole import DEARER, GIVEN, changed, measure
from grader.authoring.lesson import read_lesson
from grader.course.book import Book, Mark, Record
from tests.course.lesson_runs import ROOT, all_lessons

TEXT = ROOT / "solutions" / "00_start_here.py"
ONE = Mark(1.0, None, 0.0, 1.0)


@pytest.mark.usefixtures("one_fork_server")
# nbgrader's own release leaves a file to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_small_semester_holds_from_roster_to_archive_each_way_of_handing_in():
    found = measure(n_students=4, n_lessons=len(WAYS))
    assert found["submissions that count"] == 12
    assert found["of them late"] == 2
    assert found["hand-ins"] == 15
    assert found["submissions graded"] == 15 + 4  # and the first lesson's again, when it changed
    assert found["pages released through the exchange"] == 4
    assert found["submissions judged anew"] == 4
    assert found["scores given by hand"] == 1


def test_the_class_is_late_hands_in_again_and_hands_in_nothing_in_every_lesson():
    for week in range(7):
        found = [hand_ins(Student(n), week) for n in range(200)]
        counts = Counter(len(sent) for sent in found)
        assert counts.keys() == {0, 1, 2}
        late = {kept_share(sent[-1].seconds_late) for sent in found if sent}
        assert late == {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}
        assert len({sent[-1].kind for sent in found if sent}) == 6
        assert way(week) in ("canvas", "moodle", "exchange")
        assert all(s[0].when < due(week) and s[0].kind != s[1].kind for s in found if len(s) == 2)


def test_the_changed_lesson_has_one_exercise_less_and_a_dearer_one(tmp_path):
    path = tmp_path / TEXT.name
    path.write_text(changed(TEXT.read_text()))
    before = {e.id: e.points for e in all_lessons()[TEXT.stem].exercises}
    after = {e.id: e.points for e in read_lesson(path).exercises}
    assert after == {k: v * (1 + (k == DEARER)) for k, v in before.items() if k != GIVEN}


@pytest.mark.parametrize(
    "change",
    [
        {"student": "s001"},
        {"penalty": 0.5},
        {"handed_in": datetime(2026, 1, 2), "due": datetime(2026, 1, 1)},
        {"marks": dict.fromkeys(("stable_softmax", "masked_mean", "pairwise_dot"), ONE)},
    ],
    ids=["somebody lost", "a penalty for nothing", "late for nothing", "a right answer wrong"],
)
def test_a_wrong_row_stops_the_semester(monkeypatch, tmp_path, change):
    lesson = all_lessons()[TEXT.stem]
    marks = {e.id: Mark(e.points, None, 0.0, e.points) for e in lesson.exercises}
    right = {"folder": tmp_path, "student": "s000", "lesson": lesson.name, "marks": marks}
    semester = Semester(tmp_path, [Student(0)], [TEXT])
    given = {"record": Record(**right)}

    class Course:
        lessons = (lesson,)

        @staticmethod
        def book():
            return Book(tmp_path, {}, {}, {("s000", lesson.name): given["record"]})

    monkeypatch.setattr(Semester, "course", Course)
    look(semester, 0, semester.sent(0))
    given["record"] = Record(**right | change)
    with pytest.raises(AssertionError):
        look(semester, 0, semester.sent(0))

"""What is recorded when a graded copy cannot be made: the others, and why."""

import json

import pytest
from nbgrader.api import Gradebook, InvalidEntry

from grader.course.beside import VERDICT
from grader.course.graded_copies import fingerprint, read_copy
from grader.errors import CourseError
from grader.grading.waiting import sort_out
from grader.recording import recording
from grader.recording.graded import Graded
from grader.recording.recording import record, sweep
from tests.unit.grader.pages.graded_class import LESSON, TOTAL, outcome

SPOILED = b"one that cannot be copied"


def hand_in(made, student: str, data: bytes = b"{}") -> Graded:
    """A right submission, judged."""
    return Graded(student, made.lesson, data, outcome(), "")


def new(made, *students: str) -> list[tuple[str, str]]:
    """Which of them are to be graded."""
    for student in students:
        home = made.course.folder / "submitted" / student / LESSON
        home.mkdir(parents=True)
        (home / f"{LESSON}.ipynb").write_bytes(b"{}")
    keys = [(student, LESSON) for student in students]
    return sort_out(made.course, keys, {LESSON: {}}, made.course.book()).new


def stopping_at_spoiled(monkeypatch, error: Exception) -> None:
    usual = recording.graded_notebook

    def stopping(data, *about):
        if data == SPOILED:
            raise error
        return usual(data, *about)

    monkeypatch.setattr(recording, "graded_notebook", stopping)


@pytest.mark.parametrize("error", [ValueError("9" * 5000), RecursionError(), KeyError("cells")])
def test_a_copy_that_cannot_be_made_is_its_students_grader_error_alone(made, monkeypatch, error):
    stopping_at_spoiled(monkeypatch, error)
    batch = [hand_in(made, "ada"), hand_in(made, "eve", SPOILED), hand_in(made, "finn")]
    written = record(made.course, batch)
    assert [graded.outcome.status for graded in written] == ["graded", "grader error", "graded"]
    assert type(error).__name__ in written[1].outcome.notes[0]
    found = {x.student: x.total for x in made.course.book().of(LESSON) if x.has_score}
    assert found == {"ada": TOTAL, "finn": TOTAL}
    assert new(made, "ada", "eve", "finn") == [("eve", LESSON)]  # it is graded again


def test_first_tries_outlive_a_copy_that_cannot_be_made(made, monkeypatch):
    record(made.course, [hand_in(made, "eve")])
    before = read_copy(made.course.folder, "eve", LESSON)
    stopping_at_spoiled(monkeypatch, ValueError("odd"))
    record(made.course, [hand_in(made, "eve", SPOILED)])
    after = read_copy(made.course.folder, "eve", LESSON)
    assert before is not None
    assert after is not None
    assert after.first_tries == before.first_tries != {}


def test_a_copy_that_a_killed_run_had_moved_aside_is_put_back(made, monkeypatch):
    record(made.course, [hand_in(made, "eve")])
    before = read_copy(made.course.folder, "eve", LESSON)
    home = made.course.folder / "autograded" / "eve"
    (home / LESSON).replace(home / f".{LESSON}.old")  # the first of two steps
    sweep(made.course.folder)
    assert read_copy(made.course.folder, "eve", LESSON) == before is not None
    assert [path.name for path in home.iterdir()] == [LESSON]


def test_a_student_whom_somebody_else_enters_meanwhile_stops_the_run_with_a_sentence(
    made, monkeypatch
):
    def taken(_gradebook, student):
        raise InvalidEntry(f"UNIQUE constraint failed: {student}")

    monkeypatch.setattr(Gradebook, "add_student", taken)
    with pytest.raises(CourseError, match=r"UNIQUE constraint failed: eve.*run the same command"):
        record(made.course, [hand_in(made, "eve")])
    assert new(made, "eve") == [("eve", LESSON)]  # so that the same command grades it


def test_what_the_disk_refuses_stops_the_run(made, monkeypatch):
    stopping_at_spoiled(monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(CourseError, match="No space left"):
        record(made.course, [hand_in(made, "eve", SPOILED)])
    assert read_copy(made.course.folder, "eve", LESSON) is None


def test_verdict_json_lies_beside_the_copy_with_all_that_was_judged(made):
    record(made.course, [hand_in(made, "ada")])
    path = made.course.folder / "autograded" / "ada" / LESSON / VERDICT
    told = json.loads(path.read_bytes())
    points = {exercise.id: exercise.points for exercise in made.lesson.exercises}
    assert {name: answer["score"] for name, answer in told["answers"].items()} == points
    assert {n: a["verdict"]["points"] for n, a in told["answers"].items()} == points
    assert (told["status"], told["submission"]) == ("graded", fingerprint(b"{}"))


def test_a_copy_of_an_earlier_version_is_not_graded_anew_unasked(made):
    record(made.course, [hand_in(made, "ada")])
    (made.course.folder / "autograded" / "ada" / LESSON / VERDICT).unlink()
    assert new(made, "ada") == []
    record(made.course, [hand_in(made, "ada")])  # as with --regrade
    copy = read_copy(made.course.folder, "ada", LESSON)
    assert copy is not None
    assert copy.is_whole

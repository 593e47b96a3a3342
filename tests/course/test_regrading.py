"""A lesson that changes in mid-semester: what it affects is graded anew, and nothing is lost."""

import ast
import shutil
from dataclasses import replace

import pytest

from grader.authoring.lesson import read_lesson
from grader.course.course import GradingCourse
from grader.course.graded_copies import fingerprint, read_copy
from grader.errors import CourseError
from grader.grading.batch import autograde
from grader.grading.changes import Change, told
from grader.grading.waiting import sort_out
from grader.judging import judged_by as judges
from grader.judging.judged_by import judged_by
from grader.judging.outcome import Outcome, Status, without_run
from grader.recording import recording
from grader.recording.graded import Graded
from grader.recording.recording import record
from tests.course.lesson_runs import ROOT, all_lessons

LESSON = all_lessons()["00_start_here"]
FIRST, SECOND = LESSON.exercises[0], LESSON.exercises[1]
KEY = ("ada", LESSON.name)
pytestmark = pytest.mark.usefixtures("one_fork_server")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A course with one submission, graded by the lesson as it is."""
    course = GradingCourse(ROOT, tmp_path_factory.mktemp("template"))
    course.record(LESSON)
    data = LESSON.release_path.read_bytes()
    path = course.folder / "submitted" / "ada" / LESSON.name / f"{LESSON.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    record(course, [Graded("ada", LESSON, data, outcome(LESSON), "", "", judged_by(LESSON))])
    with course.gradebook() as gradebook:
        for exercise in (FIRST, SECOND):
            grade = gradebook.find_grade(f"test_{exercise.id}", LESSON.name, *reversed(KEY))
            grade.manual_score = 0.5
            comment = gradebook.find_comment(exercise.id, LESSON.name, *reversed(KEY))
            comment.manual_comment = f"About {exercise.id}."
        gradebook.db.commit()
    return course.folder


@pytest.fixture
def course(template, tmp_path):
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return GradingCourse(ROOT, tmp_path)


def outcome(lesson) -> Outcome:
    return replace(without_run(lesson, Status.GRADED, ""), notes=())


def waiting(course, lesson):
    return sort_out(course, [KEY], {lesson.name: judged_by(lesson)}, course.book())


def with_first(**changes):
    return replace(LESSON, exercises=[replace(FIRST, **changes), *LESSON.exercises[1:]])


def test_nothing_waits_while_nothing_changes(course):
    found = waiting(course, LESSON)
    assert (found.new, found.changed, found.left) == ([], {}, [])


@pytest.mark.parametrize(
    "changes",
    [{"points": FIRST.points + 1}, {"hidden": FIRST.hidden[1:]}],
    ids=["points", "a hidden case"],
)
def test_a_change_of_what_judges_an_exercise_regrades_and_names_it(course, changes):
    (stale,) = waiting(course, with_first(**changes)).changed.values()
    assert stale.exercises == (FIRST.id,)


def test_a_change_of_an_answers_module_changes_the_exercises_that_it_judges(monkeypatch):
    before = judged_by(LESSON)
    (home,) = judges._homes(FIRST.id, "answers", "EXERCISES")
    meaning = judges._meaning
    monkeypatch.setattr(
        judges, "_meaning", lambda name: meaning(name) + ("x" if name == home else "")
    )
    assert judged_by(LESSON)[FIRST.id] != before[FIRST.id]
    other = all_lessons()["04_positional_encoding"]
    monkeypatch.undo()
    kept = judged_by(other)
    monkeypatch.setattr(
        judges, "_meaning", lambda name: meaning(name) + ("x" if name == home else "")
    )
    assert judged_by(other) == kept


def test_a_comment_or_docstring_in_a_check_changes_no_fingerprint(monkeypatch):
    text = judges._text
    plain = judges._meaning.__wrapped__
    (home,) = judges._homes(FIRST.id, "answers", "EXERCISES")
    before = plain(home)
    told_more = text(home).replace('"""', '"""More. ', 1) + "\n# a comment\n"
    ast.parse(told_more)
    monkeypatch.setattr(judges, "_text", lambda name: told_more)
    assert plain(home) == before
    monkeypatch.setattr(judges, "_text", lambda name: told_more + "\nMORE = 1\n")
    assert plain(home) != before


def test_an_answer_submitted_again_waits_also_when_only_its_time_differs(course):
    stamp = course.folder / "submitted" / "ada" / LESSON.name / "timestamp.txt"
    stamp.write_text("2026-12-01 12:00:00 UTC")
    assert waiting(course, LESSON).new == [KEY]


def test_a_score_that_is_gone_from_the_gradebook_waits_and_comes_back(course):
    with course.gradebook() as gradebook:
        gradebook.db.delete(gradebook.find_grade(f"test_{FIRST.id}", LESSON.name, *reversed(KEY)))
        gradebook.db.commit()
    assert waiting(course, LESSON).new == [KEY]
    data = LESSON.release_path.read_bytes()
    record(course, [Graded("ada", LESSON, data, outcome(LESSON), "", "", judged_by(LESSON))])
    assert waiting(course, LESSON).all == []


def test_what_nbgraders_own_engine_graded_is_left_as_it_is(course):
    copy = course.folder / "autograded" / "ada" / LESSON.name / f"{LESSON.name}.ipynb"
    shutil.copy(LESSON.release_path, copy)
    assert waiting(course, LESSON).left == [KEY]


def refit(course, lesson, monkeypatch):
    """Record a changed lesson, as if it had been built."""
    monkeypatch.setattr("grader.course.course.solution_fault", lambda lesson: None)
    monkeypatch.setattr("grader.course.course.release_fault", lambda lesson, root: None)
    monkeypatch.setattr("grader.course.course.run_converter", lambda converter, failure: None)
    course.record(lesson)


def grades(course):
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission(*reversed(KEY))
        (notebook,) = submission.notebooks
        return {grade.name: (grade.manual_score, grade.max_score) for grade in notebook.grades}


def comments(course):
    with course.gradebook() as gradebook:
        (notebook,) = gradebook.find_submission(*reversed(KEY)).notebooks
        return {comment.name: comment.manual_comment for comment in notebook.comments}


def test_an_exercise_removed_goes_and_all_else_stays(course, monkeypatch):
    less = replace(LESSON, exercises=LESSON.exercises[1:])
    refit(course, less, monkeypatch)
    found = grades(course)
    assert set(found) == {f"test_{e.id}" for e in less.exercises}
    assert found[f"test_{SECOND.id}"] == (0.5, SECOND.points)
    assert comments(course)[SECOND.id] == f"About {SECOND.id}."
    record(course, [Graded("ada", less, b"", outcome(less), "")])
    assert set(course.book().of(less.name)[0].scores) == {e.id for e in less.exercises}


def test_an_exercise_added_is_added_to_every_submission_which_then_waits(course, monkeypatch):
    extra = replace(FIRST, id="another_one", points=2.0)
    more = replace(LESSON, exercises=[*LESSON.exercises, extra])
    refit(course, more, monkeypatch)
    assert grades(course)["test_another_one"] == (None, 2.0)
    assert grades(course)[f"test_{FIRST.id}"] == (0.5, FIRST.points)
    assert not course.book().record(*KEY).by_grader
    monkeypatch.setattr(recording, "graded_notebook", lambda *_arguments: {"cells": []})
    record(course, [Graded("ada", more, b"", outcome(more), "")])
    assert course.book().record(*KEY).by_grader


def test_manual_scores_and_comments_outlive_being_judged_anew(course):
    before = grades(course), comments(course)
    record(course, [Graded("ada", LESSON, b"", outcome(LESSON), "")])
    assert (grades(course), comments(course)) == before


def test_a_lesson_changed_without_a_build_is_refused_with_the_command_that_mends_it(course):
    text = LESSON.text_path.read_text() + "\n# %% [markdown]\n# More.\n"
    with pytest.raises(CourseError, match=r"00_start_here was not graded: .*Run make build"):
        course.record(changed_text(LESSON, text, course.folder))


def changed_text(lesson, text, folder):
    path = folder / "solutions" / lesson.text_path.name
    shutil.copytree(ROOT / "solutions" / lesson.name, path.with_suffix(""))
    path.write_text(text)
    return read_lesson(path)


def test_a_run_killed_between_copies_and_gradebook_is_graded_again(course, monkeypatch):
    data = (course.folder / "submitted" / "ada" / LESSON.name / f"{LESSON.name}.ipynb").read_bytes()
    graded = Graded("ada", LESSON, data, outcome(LESSON), "", "", judged_by(LESSON))

    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(recording, "enter", killed)
        with pytest.raises(KeyboardInterrupt):
            record(course, [graded])
    assert read_copy(course.folder, *KEY).submission == fingerprint(data)
    assert waiting(course, LESSON).new == [KEY]
    record(course, [graded])
    assert waiting(course, LESSON).all == []


def test_who_gained_and_who_lost_is_told_in_a_few_lines():
    many = [
        Change(f"s{n}", "02_attention", ("attend",), {"attend": 1.0}, {"attend": score})
        for n, score in enumerate([2.0] * 30 + [0.5] * 3 + [1.0] * 67)
    ]
    lines = told(many)
    assert lines[0] == "02_attention: judged anew, because this changed: attend"
    assert lines[1] == "  30 gained, 3 lost, 67 as before"
    assert lines[2] == "  s0 +1, s1 +1, s2 +1, s3 +1, s4 +1, ..."
    assert lines[3] == "  s30 -0.5, s31 -0.5, s32 -0.5"
    assert many[0].line == "s0, 02_attention: +1  attend 1 -> 2"


def test_what_is_judged_otherwise_now_is_graded_anew_and_every_change_is_told(course):
    copy = course.folder / "autograded" / "ada" / LESSON.name / f"{LESSON.name}.ipynb"
    copy.write_text(copy.read_text().replace(judged_by(LESSON)[FIRST.id], "as it was before"))
    with course.gradebook() as gradebook:
        test = f"test_{FIRST.id}"
        gradebook.find_grade(test, LESSON.name, *reversed(KEY)).auto_score = 1.0
        gradebook.db.commit()
    before = grades(course)
    (change,) = autograde(course, [KEY], n_jobs=1).changes
    assert FIRST.id in change.why
    assert change.gain == -1.0
    told_there = (course.folder / "report" / "regraded.txt").read_text()
    assert f"ada, {LESSON.name}: -1  {FIRST.id} 1 -> 0" in told_there
    assert grades(course) == before
    assert len(list((course.folder / "gradebook-backups").iterdir())) == 1
    assert autograde(course, [KEY], n_jobs=1).outcomes == {}

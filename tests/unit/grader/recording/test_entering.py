"""What is written as rows is what nbgrader's own objects would have written."""

import pytest

from grader.judging.outcome import Status
from grader.recording.entering import NO_RESPONSE, enter
from grader.recording.graded import Graded
from tests.unit.grader.pages.graded_class import LESSON, TOTAL, outcome, stub

WHEN = "2026-11-19 10:30:00.5 UTC"
OWN = ("id", "student", "last_name", "first_name")  # differ between two students' rows


def hand_in(made, student, how=None, when=WHEN):
    return Graded(student, made.lesson, b"{}", how or outcome(), when)


def entered(made, *batch):
    with made.course.transaction() as gradebook:
        enter(gradebook, batch)


def of_nbgraders_own(made, graded):
    """Enter a submission with nbgrader's objects alone."""
    with made.course.transaction() as gradebook:
        gradebook.add_student(graded.student)
        submission = gradebook.add_submission(LESSON, graded.student, timestamp=WHEN)
        scores = graded.outcome.scores
        failed = graded.outcome.status == Status.GRADER_ERROR
        for grade in submission.notebooks[0].grades:
            score = scores[grade.cell.name.removeprefix("test_")]
            grade.auto_score = None if failed else score
            grade.needs_manual_grade = failed
        for comment in submission.notebooks[0].comments:
            verdict = next(
                r.verdict for r in graded.outcome.results if r.exercise == comment.cell.name
            )
            comment.auto_comment = NO_RESPONSE if verdict and verdict.is_stub else None


def told(made, student):
    """All that nbgrader tells of a submission, without what is the student's alone."""
    with made.course.gradebook() as gradebook:
        submission = gradebook.find_submission(LESSON, student)
        book = submission.notebooks[0]
        rows = [submission, book, *book.grades, *book.comments]
        plain = [{k: v for k, v in r.to_dict().items() if k not in OWN} for r in rows]
    return sorted(plain, key=repr)


@pytest.mark.parametrize(
    "how",
    [
        outcome(),
        outcome(attend=stub, padding_mask=stub),
        outcome(Status.GRADER_ERROR),
        outcome(Status.CRASHED),
    ],
    ids=["right", "stubs", "grader error", "crashed"],
)
def test_rows_are_those_of_nbgraders_own_objects(made, how):
    entered(made, hand_in(made, "rows", how), hand_in(made, "other", outcome(attend=stub)))
    of_nbgraders_own(made, hand_in(made, "objects", how))
    assert told(made, "rows") == told(made, "objects")
    assert told(made, "rows") != told(made, "other")


def test_a_submission_that_is_there_is_changed_and_what_was_given_by_hand_stays(made):
    entered(made, hand_in(made, "ada", outcome(attend=stub)))
    with made.course.transaction() as gradebook:
        book = gradebook.find_submission(LESSON, "ada").notebooks[0]
        next(g for g in book.grades if g.cell.name == "test_attend").manual_score = 1.5
        next(c for c in book.comments if c.cell.name == "attend").manual_comment = "Nearly."
    entered(made, hand_in(made, "ada"), hand_in(made, "ben"))
    with made.course.gradebook() as gradebook:
        book = gradebook.find_submission(LESSON, "ada").notebooks[0]
        grade = next(g for g in book.grades if g.cell.name == "test_attend")
        comment = next(c for c in book.comments if c.cell.name == "attend")
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (3.0, 1.5, True)
        assert (comment.auto_comment, comment.manual_comment) == (None, "Nearly.")
        assert gradebook.find_submission(LESSON, "ben").score == TOTAL
        assert len(gradebook.assignment_submissions(LESSON)) == 2


def test_of_two_submissions_of_one_student_in_a_batch_the_last_is_entered(made):
    entered(made, hand_in(made, "ada", outcome(attend=stub)), hand_in(made, "ada"))
    with made.course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == TOTAL
        assert len(gradebook.assignment_submissions(LESSON)) == 1


def test_a_submission_without_a_time_has_none_and_keeps_the_one_that_it_had(made):
    entered(made, hand_in(made, "ada", when=""))
    with made.course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").timestamp is None
    entered(made, hand_in(made, "ada"))
    entered(made, hand_in(made, "ada", when=""))
    with made.course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").timestamp.minute == 30

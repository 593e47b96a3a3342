"""What a person should know of the gradebook is told, and no longer when it is settled."""

import pytest

from grader.course.notices import notices
from grader.grading.entering import enter
from grader.grading.graded import Graded
from tests.unit.grader.pages.graded_class import LESSON, grade_of, outcome, stub

WHEN = "2026-11-19 10:30:00 UTC"


@pytest.fixture
def hand_in(made):
    """What enters a student's hand-in as it was graded, as `grade` does."""

    def entered(student, when=WHEN, **judged):
        with made.course.transaction() as gradebook:
            enter(gradebook, [Graded(student, made.lesson, b"{}", outcome(**judged), when)])

    return entered


def by_hand(made, student, score):
    """Give a score as formgrader does, which takes the mark off."""

    def edit(submission):
        grade = grade_of(submission, "attend")
        grade.manual_score, grade.needs_manual_grade = score, False

    made.change(student, edit)


def test_a_score_by_hand_that_hides_another_of_a_new_hand_in_is_told_with_both(made, hand_in):
    hand_in("bob", attend=stub)
    by_hand(made, "bob", 0.5)
    assert notices(made.course) == []
    hand_in("bob")
    assert notices(made.course) == [
        f"score by hand differs from the grader's new one: bob {LESSON} attend (yours 0.5, the "
        "grader's 3). In make teach, Resolve keeps yours, an empty field lets the grader's count"
    ]


@pytest.mark.parametrize("score", [0.5, None], ids=["resolved", "field emptied"])
def test_a_score_that_was_looked_at_since_is_told_no_more(made, hand_in, score):
    hand_in("bob", attend=stub)
    by_hand(made, "bob", 0.5)
    hand_in("bob")
    by_hand(made, "bob", score)
    assert notices(made.course) == []


def test_a_score_by_hand_that_the_grader_gives_too_is_not_told(made, hand_in):
    hand_in("bob", attend=stub)
    by_hand(made, "bob", 3.0)
    hand_in("bob")
    assert notices(made.course) == []


def test_of_many_scores_by_hand_the_first_are_named_and_the_others_counted(made, hand_in):
    for student in ("a", "b", "c", "d", "e\x1b"):
        hand_in(student, attend=stub)
        by_hand(made, student, 0.5)
        hand_in(student)
    (told,) = notices(made.course)
    assert told.count("yours 0.5") == 3
    assert ", and 2 more." in told

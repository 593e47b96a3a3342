"""What a person should know of the gradebook is told, and no longer when it is settled."""

from datetime import datetime

import pytest

from grader.course.notices import notices
from grader.recording.entering import enter
from grader.recording.graded import Graded
from tests.unit.grader.pages.graded_class import LESSON, grade_of, outcome, stub

WHEN = "2026-11-19 10:30:00 UTC"
LONG_AGO, FAR_AHEAD = datetime(2020, 1, 1), datetime(2090, 1, 1)


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
    assert notices(made.course, made.course.book()) == []
    hand_in("bob")
    assert notices(made.course, made.course.book()) == [
        f"score by hand differs from the grader's new one: bob {LESSON} attend (yours 0.5, the "
        "grader's 3). In make teach, Resolve keeps yours, an empty field lets the grader's count"
    ]


@pytest.mark.parametrize("score", [0.5, None], ids=["resolved", "field emptied"])
def test_a_score_that_was_looked_at_since_is_told_no_more(made, hand_in, score):
    hand_in("bob", attend=stub)
    by_hand(made, "bob", 0.5)
    hand_in("bob")
    by_hand(made, "bob", score)
    assert notices(made.course, made.course.book()) == []


def test_a_score_by_hand_that_the_grader_gives_too_is_not_told(made, hand_in):
    hand_in("bob", attend=stub)
    by_hand(made, "bob", 3.0)
    hand_in("bob")
    assert notices(made.course, made.course.book()) == []


def test_of_many_scores_by_hand_the_first_are_named_and_the_others_counted(made, hand_in):
    for student in ("a", "b", "c", "d", "e\x1b"):
        hand_in(student, attend=stub)
        by_hand(made, student, 0.5)
        hand_in(student)
    (told,) = notices(made.course, made.course.book())
    assert told.count("yours 0.5") == 3
    assert ", and 2 more." in told


def due(made, when):
    with made.course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=when)


def test_hand_ins_without_a_time_are_told_when_their_lesson_was_due(made, hand_in):
    hand_in("ada")
    hand_in("nick", when="")
    due(made, LONG_AGO)
    assert notices(made.course, made.course.book()) == [
        f"no time recorded, counted as on time: nick {LESSON}. A time in timestamp.txt beside the "
        "notebook counts, such as 2026-10-05 23:10 UTC"
    ]
    hand_in("nick")
    assert notices(made.course, made.course.book()) == []


@pytest.mark.parametrize("when", [None, FAR_AHEAD], ids=["no due date", "due later"])
def test_a_hand_in_without_a_time_is_not_told_where_nobody_can_be_late(made, hand_in, when):
    hand_in("nick", when="")
    due(made, when)
    assert notices(made.course, made.course.book()) == []


def test_within_an_extension_a_hand_in_without_a_time_is_not_told(made, hand_in):
    hand_in("nick", when="")
    due(made, LONG_AGO)
    made.change("nick", lambda submission: setattr(submission, "extension", FAR_AHEAD - LONG_AGO))
    assert notices(made.course, made.course.book()) == []

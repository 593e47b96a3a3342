import pytest

from grader.cluster.roster import Roster
from grader.errors import CourseError

THREE = {"a": 1, "b": 2, "c": 1}


@pytest.fixture
def roster():
    found = Roster()
    found.update(THREE)
    return found


def test_while_all_can_grade_a_batch_may_go_anywhere(roster):
    assert roster.bound("") == frozenset()
    assert roster.usable == THREE


def test_an_excluded_worker_gets_nothing_more_and_is_told_once(roster):
    assert roster.exclude("b", "its disk is full") == "b is not used: its disk is full."
    assert roster.exclude("b", "its disk is full") == ""
    assert roster.bound("") == {"a", "c"}
    assert roster.usable == {"a": 1, "c": 1}


def test_a_doubted_outcome_goes_to_another_worker(roster):
    assert roster.bound("a") == {"b", "c"}


def test_a_doubted_outcome_goes_to_the_same_worker_if_there_is_no_other(roster):
    roster.update({"a": 1})
    assert roster.bound("a") == {"a"}


def test_when_none_that_is_there_can_grade_all_reasons_are_told(roster):
    roster.exclude("a", "one")
    roster.exclude("b", "two")
    with pytest.raises(CourseError, match=r"no worker that can grade.*: one.*: two"):
        roster.update({"a": 1, "b": 1})


def test_a_batch_whose_workers_are_all_gone_is_known(roster):
    assert roster.is_there(frozenset())
    assert roster.is_there(frozenset({"a", "x"}))
    assert not roster.is_there(frozenset({"x"}))

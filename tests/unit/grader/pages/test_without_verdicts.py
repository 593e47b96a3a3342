"""Pages of copies without verdict.json: all that is known is there, and what is missing is said."""

import numpy as np

from grader.pages.feedback import without_page, write_feedback
from tests.unit.grader.pages.graded_class import LESSON, NO_SCALING, TOTAL, wrong
from tests.unit.grader.pages.test_feedback import ATTEND, words, written

MISSING = "Pictures of what was expected and of what came back are missing here"


def test_a_copy_without_verdict_json_has_a_page_that_says_what_is_missing(made):
    """As nbgrader's own autograde, and earlier versions of the course, leave their copies."""
    pictures = (np.eye(2), np.ones((2, 2)))
    judged = wrong(ATTEND, 5, NO_SCALING, pictures=pictures)
    made.add("ada", judged, sources={ATTEND: "my = 'code'"})
    made.add("ben", judged, sources={ATTEND: "my = 'code'"}, is_whole=False)
    whole, bare = written(made), written(made, "ben")
    assert len(whole.select("svg.map")) == 2
    assert MISSING not in words(whole)
    assert bare.select("svg.map") == []
    assert MISSING in words(bare)
    for page in (whole, bare):
        text = words(page.find(id=ATTEND))
        assert "What this usually means: The scores are not divided." in text
        assert "Case “plain”: 3 of 4 entries differ. x[0]: expected 1, got 2" in text
        assert "my = 'code'" in text
        assert f"{TOTAL - 5:g} of {TOTAL:g} points" in words(page.header)


def test_a_page_says_nothing_of_missing_pictures_where_all_is_right(made):
    made.add("ada", is_whole=False)
    assert MISSING not in words(written(made))


def test_a_page_is_written_anew_when_more_is_known_of_the_same_copy(made):
    judged = wrong(ATTEND, 5)
    made.add("ada", judged, is_whole=False)
    write_feedback(made.course, [("ada", LESSON)], made.course.book())
    made.add("ada", judged)
    book = made.course.book()
    assert without_page(made.course, [("ada", LESSON)], book) == [("ada", LESSON)]

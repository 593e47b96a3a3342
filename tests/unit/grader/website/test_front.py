"""The front page: what is made for it."""

import re

import pytest

from grader.errors import CourseError
from grader.website.front import by_hand, cards, how_to_run
from grader.website.hosted import Host
from tests.course.lesson_runs import ROOT, all_lessons

LESSONS = list(all_lessons().values())


def test_attention_by_hand_is_taken_from_a_lessons_last_run():
    shown = by_hand(LESSONS)
    assert 'class="drawn"' in shown and 'data-part="query-0"' in shown
    with pytest.raises(CourseError, match="no lesson calls it"):
        by_hand(LESSONS[:2])


def test_each_lesson_has_a_card_with_a_picture_that_is_there():
    shown, pictures = cards(LESSONS, ROOT)
    assert re.findall(r'href="lessons/(\w+)\.html"', shown) == [one.name for one in LESSONS]
    named = re.findall(r'src="_static/([^"]+)"', shown)
    assert len(named) == len(LESSONS) and set(named) == pictures.keys()
    assert all(text.startswith("<svg") or "<svg" in text for text in pictures.values())
    assert "02-1-a-decoder-that-looks-back" in shown and "00-2-the-encoder-after" in shown
    assert "135 minutes · 27 points" in shown


def test_the_lines_to_copy_clone_the_repository_if_there_is_one():
    assert "git clone https://github.com/ada/course\ncd course\nmake lab" in how_to_run(
        Host("ada/course")
    )
    assert ">make lab</pre>" in how_to_run(Host())

"""What late work loses."""

import pytest
from traitlets.config import Config

from grader.nbgrader_plugins.late import DAY, PercentADay


@pytest.mark.parametrize(
    ("seconds", "loses"),
    [(1, 2.0), (DAY, 2.0), (DAY + 1, 4.0), (5 * DAY, 10.0), (30 * DAY, 10.0)],
)
def test_each_day_begun_costs_a_tenth_and_never_more_than_half(seconds, loses):
    assert PercentADay().late_submission_penalty("ada", 20.0, seconds) == loses


def test_the_course_sets_both_numbers():
    plugin = PercentADay(config=Config(PercentADay={"percent_a_day": 25, "most_percent": 60}))
    assert plugin.late_submission_penalty("ada", 20.0, DAY) == 5.0
    assert plugin.late_submission_penalty("ada", 20.0, 9 * DAY) == 12.0

"""The penalty for late submissions: a share of the score for each day begun."""

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

DAY = 24 * 60 * 60  # seconds


class PercentADay(LateSubmissionPlugin):
    """Take `percent_a_day` of the score for each day begun, at most `most_percent`."""

    percent_a_day = Float(10.0, min=0.0, max=100.0, help="taken for each day begun").tag(
        config=True
    )
    most_percent = Float(50.0, min=0.0, max=100.0, help="never more than this").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
        """Return the points that a late submission loses (nbgrader's own hook)."""
        del student_id
        days = math.ceil(total_seconds_late / DAY)
        percent: float = min(days * self.percent_a_day, self.most_percent)
        return score * percent / 100

"""The fast engine: student code runs isolated and is only observed; scores are decided here.

``grade_submission`` is the whole of it as one function: submission bytes and limits in, outcome
data out.
"""

from grader.engine.outcome import ExerciseResult, Outcome
from grader.engine.unit import grade_submission

__all__ = ["ExerciseResult", "Outcome", "grade_submission"]

"""The fast engine: student code runs isolated and is only observed; scores are decided here.

`pipeline.grade_submission` does all of it in one function: submission bytes and limits in, outcome
data out.
"""

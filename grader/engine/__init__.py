"""The fast engine: student code runs isolated and is only observed; scores are decided here.

`unit.grade_submission` is the whole of it as one function: submission bytes and limits in, outcome
data out. Nothing is imported here, so that the process in which students' code will run loads what
it needs and no more.
"""

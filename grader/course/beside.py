"""The files that lie beside a hand-in or its graded copy, and the key by which that names itself.

Steps that load nothing of the course's checks use them, too.
"""

from typing import Final

STAMP: Final = "timestamp.txt"  # when it came; every way of collecting writes it
SECRET: Final = "submission_secret.txt"  # who knows it may fetch the feedback; written last
BOTH: Final = (STAMP, SECRET)  # nbgrader's, of what came through its exchange
VERDICT: Final = "verdict.json"  # all that the course's own engine says of a graded copy
OUTCOME: Final = "course_outcome"  # in a graded copy's metadata: what it says of itself

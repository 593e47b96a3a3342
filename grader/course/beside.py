"""The two files that nbgrader keeps beside a hand-in that came through its exchange."""

from typing import Final

STAMP: Final = "timestamp.txt"  # when it came; every way of collecting writes it
SECRET: Final = "submission_secret.txt"  # who knows it may fetch the feedback; written last
BOTH: Final = (STAMP, SECRET)

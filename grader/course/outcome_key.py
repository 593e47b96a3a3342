"""The key under which a graded copy speaks of itself, for steps that load no checks."""

from typing import Final

OUTCOME: Final = "course_outcome"  # in a graded copy's metadata

"""Right answers and common mistakes of lesson 06; never loaded beside student code."""

from utils.checks.discovery import collect

EXERCISES = collect(__name__, __path__, "EXERCISES")

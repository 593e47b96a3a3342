"""Right answers of lesson 00; never loaded beside student code."""

from utils.checks.discovery import collect

EXERCISES = collect(__name__, __path__, "EXERCISES")

"""Right answers and common mistakes of lab 06b; never loaded beside student code."""

from utils.checks.discovery import collect

EXERCISES = collect(__name__, __path__, "EXERCISES")

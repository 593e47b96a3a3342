"""From a lesson's text to its executed notebook and its student release."""

from grader.build.lesson import Exercise, Lesson, lessons, read_lesson
from grader.build.regions import stubbed
from grader.build.text import Cell

__all__ = ["Cell", "Exercise", "Lesson", "lessons", "read_lesson", "stubbed"]

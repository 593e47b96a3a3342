"""From a lesson's text to its executed notebook and its student release."""

from grader.authoring.lesson import Lesson, LessonExercise, lessons, read_lesson
from grader.authoring.percent import Cell
from grader.authoring.regions import stubbed

__all__ = ["Cell", "Lesson", "LessonExercise", "lessons", "read_lesson", "stubbed"]

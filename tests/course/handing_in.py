"""A learner's way through the exchange, by nbgrader's own steps."""

from collections.abc import Sequence
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from grader.authoring.lesson import Lesson
from grader.authoring.sample_class import Edit, submission
from grader.course.course import GradingCourse
from utils.lab.exchange import Course, prepare


def step(folder: Path, lesson: Lesson, name: str) -> None:
    """Run one of nbgrader's own steps in the exchange, such as Submit or FetchFeedback."""
    config = GradingCourse(folder, folder).converter_config(lesson.name)
    course = {"coursedir": CourseDirectory(config=config), "config": config}
    getattr(ExchangeFactory(config=config), name)(
        authenticator=Authenticator(config=config), **course
    ).start()


def submit(folder: Path, lesson: Lesson, mistakes: Sequence[Edit] = ()) -> None:
    """Take the lessons as `make lab` does, answer one with mistakes or none, and submit it."""
    prepare(Course(folder))
    copy = folder / "learn" / lesson.name / f"{lesson.name}.ipynb"
    copy.write_text(submission(lesson, "a learner", mistakes), encoding="utf-8")
    step(folder, lesson, "Submit")

"""`python -m grader bundle`: zip what students get, and release into the exchange they share."""

import argparse
from pathlib import Path

from nbgrader.exchange import ExchangeError

from grader.authoring.files import find_root
from grader.bundle.pack import NAME, UNSET, pack
from grader.errors import CourseError
from utils.lab.exchange import Course, release
from utils.lab.settings import FILE, SettingsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no arguments: `course.toml` says how the class hands in."""
    parser.epilog = (
        f'Beside the course, {FILE} may say where students hand in: submit = "Moodle, below Lesson '
        '2", or the folder of an exchange that you share, submit = "/srv/nbgrader/exchange". Below '
        "[due], lines such as 02_attention = 2026-12-01T23:59:00 are shown on their start page."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Write the bundle and say how the students who get it hand in."""
    course = Course(find_root(Path.cwd()))
    try:
        settings = course.settings
    except SettingsError as error:
        raise CourseError(str(error)) from None
    target = course.root / "dist" / f"{NAME}.zip"
    pack(course.root, settings, target)
    print(f"{target.relative_to(course.root)}: what students need, as last committed")
    if settings.shared is not None:
        print(_release(course, settings.shared))
        return 0
    print(f"Its Submit is hidden. Students are told to upload to: {settings.upload or UNSET}")
    if not settings.upload:
        print(
            f'To name the place, write a line into {FILE}: submit = "Moodle, below Lesson 2"; '
            'or the folder of an exchange that you share: submit = "/srv/nbgrader/exchange"'
        )
    return 0


def _release(course: Course, shared: Path) -> str:
    """Release what is new into the shared exchange; return what the instructor should know."""
    if not shared.is_dir():
        return (
            f"Its Submit goes to {shared}, which is not on this machine: release the lessons "
            "there by running make bundle where it is."
        )
    try:
        new = [lesson for lesson in course.lessons() if release(course, lesson)]
    except (ExchangeError, OSError) as error:
        raise CourseError(
            f"The lessons could not be released into {shared}: {error}\n"
            "Everyone in the class must be able to write there: chmod 777, or share by group."
        ) from None
    return f"Its Submit goes to {shared}; released there now: {', '.join(new) or 'nothing new'}"

"""Private hidden cases: an instructor's secret varies their inputs, alike for a whole class.

The solutions are public, hidden cases included. With a secret, in the environment variable
COURSE_SECRET or in the file course_secret.txt (which git ignores), each hidden case is posed with
other random numbers of the same kind. Only a word made from the secret reaches a student's process;
the secret cannot be computed from it.
"""

import hmac
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson, LessonExercise
from grader.errors import CourseError
from utils.checks.framework.variation import VARIATION

VARIABLE: Final = "COURSE_SECRET"
FILE: Final = "course_secret.txt"
FEWEST: Final = 12  # characters: a shorter secret can be guessed by trying
LENGTH: Final = 16  # of a case's word


def course_secret(root: Path) -> str:
    """Return the secret of the class; "" if it has none. The variable comes before the file.

    Raises:
        CourseError: it cannot be read, or is so short that it could be guessed.

    """
    where, secret = VARIABLE, os.environ.get(VARIABLE, "").strip()
    if not secret and (root / FILE).exists():
        where, secret = FILE, _written(root / FILE)
    if where == FILE or secret:
        _require_long(where, secret)
    return secret


def _written(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{FILE} cannot be read: {error}") from None


def _require_long(where: str, secret: str) -> None:
    if len(secret) < FEWEST:
        raise CourseError(
            f"The secret in {where} has {len(secret)} characters: write at least {FEWEST}, such as "
            'those that `python -c "import secrets; print(secrets.token_hex())"` prints, or take '
            "it away to grade with the public hidden cases."
        )


def varied(lesson: Lesson, secret: str) -> Lesson:
    """Return a lesson whose hidden cases are varied by a secret; the same lesson without one."""
    if not secret:
        return lesson
    exercises = [_varied(lesson.name, exercise, secret) for exercise in lesson.exercises]
    return replace(lesson, exercises=exercises)


def _varied(lesson: str, exercise: LessonExercise, secret: str) -> LessonExercise:
    """Vary an exercise's hidden cases, each by a word of its own."""
    hidden = [
        case | {VARIATION: _word(f"{lesson} {exercise.id} {number}", secret)}
        for number, case in enumerate(exercise.hidden)
    ]
    return replace(exercise, hidden=hidden)


def _word(of: str, secret: str) -> str:
    return hmac.new(secret.encode(), of.encode(), "sha256").hexdigest()[:LENGTH]

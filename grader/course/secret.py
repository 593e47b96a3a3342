"""Private hidden cases: an instructor's secret varies their inputs, alike for a whole class.

The solutions are public, hidden cases included. With a secret, in the environment variable
COURSE_SECRET or in the file course_secret.txt (which git ignores), each hidden case is posed with
other random numbers of the same kind. Only a word made from the secret reaches a student's process;
the secret cannot be computed from it.
"""

import hmac
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from grader.authoring.lesson import Lesson, LessonExercise
from grader.course.private import SECRET
from grader.errors import CourseError
from utils.checks.framework.variation import VARIATION
from utils.text_files import read_text

VARIABLE: Final = "COURSE_SECRET"
FILE: Final = SECRET
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
        return read_text(path).strip()
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
    return with_words(lesson, {e.id: _words(lesson.name, e, secret) for e in lesson.exercises})


def _words(lesson: str, exercise: LessonExercise, secret: str) -> list[str]:
    """Return a word of its own for each hidden case of an exercise."""
    cases = range(len(exercise.hidden))
    return [_word(f"{lesson} {exercise.id} {number}", secret) for number in cases]


Words = Mapping[str, Sequence[str]]  # exercise -> a word for each hidden case, or none at all


def words_in(lesson: Lesson) -> Words:
    """Return the words that vary a lesson's hidden cases: all that a secret changes in it."""
    found = {e.id: [c[VARIATION] for c in e.hidden if VARIATION in c] for e in lesson.exercises}
    return {exercise: words for exercise, words in found.items() if words}


def with_words(lesson: Lesson, words: Words) -> Lesson:
    """Return a lesson whose hidden cases are varied, each by its word.

    Raises:
        ValueError: an exercise has other hidden cases than there are words.

    """
    exercises = [
        replace(exercise, hidden=_varied(exercise, words[exercise.id]))
        if exercise.id in words
        else exercise
        for exercise in lesson.exercises
    ]
    return replace(lesson, exercises=exercises)


def _varied(exercise: LessonExercise, words: Sequence[str]) -> list[dict[str, Any]]:
    cases = zip(exercise.hidden, words, strict=True)
    return [case | {VARIATION: word} for case, word in cases]


def _word(of: str, secret: str) -> str:
    return hmac.new(secret.encode(), of.encode(), "sha256").hexdigest()[:LENGTH]

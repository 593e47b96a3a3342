"""Private hidden cases: an instructor's secret varies their inputs, alike for a whole class.

The solutions are public, hidden cases included. With a secret, in the environment variable
COURSE_SECRET or in the file course_secret.txt (which git ignores), each hidden case is posed with
other random numbers of the same kind. Only a word made from the secret reaches a student's process;
the secret cannot be computed from it.
"""

import hmac
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from grader.authoring.lesson import Lesson
from grader.course.private import SECRET
from grader.errors import PROGRAM, CourseError
from utils.checks.variation import VARIATION
from utils.text_files import read_text

VARIABLE: Final = "COURSE_SECRET"
FILE: Final = SECRET
DIGITS: Final = re.compile(r"[0-9a-f]{32,}", re.IGNORECASE)  # 16 bytes and more
FEWEST: Final = 8  # different digits, and steps from digit to digit: fewer are a pattern
LENGTH: Final = 16  # of a case's word


def course_secret(root: Path) -> str:
    """Return the secret of the class; "" if it has none. The variable comes before the file.

    Raises:
        CourseError: it cannot be read, or may be guessed: one right answer to a hidden case is
            enough to try millions of secrets against.

    """
    where, secret = VARIABLE, os.environ.get(VARIABLE, "").strip()
    if not secret and (root / FILE).exists():
        where = FILE
        try:
            secret = read_text(root / FILE).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(f"{FILE} cannot be read: {error}") from None
    if (where == FILE or secret) and not _is_drawn(secret):
        raise CourseError(
            f"The secret in {where} may be guessed: it must be at least 32 hexadecimal digits that "
            f"chance drew. {_way_to_another(where)} The next make grade then judges with it what "
            "was graded with this one; scores by hand stay."
        )
    return secret


def _is_drawn(secret: str) -> bool:
    """Return whether this may be by chance: no phrase, number or pattern of digits is."""
    if not DIGITS.fullmatch(secret) or secret.isdecimal() or secret in (secret * 2)[1:-1]:
        return False
    digits = [int(digit, 16) for digit in secret]
    steps = {(after - before) % 16 for before, after in pairwise(digits)}
    return min(len(set(digits)), len(steps)) >= FEWEST


def _way_to_another(where: str) -> str:
    first = "To make one, run" if where == FILE else f"Unset {VARIABLE}, then run"
    return f"{first} {PROGRAM} secret --replace"


def varied(lesson: Lesson, secret: str) -> Lesson:
    """Return a lesson whose hidden cases are varied by a secret; the same lesson without one."""
    if not secret:
        return lesson
    words = {
        e.id: [_word(f"{lesson.name} {e.id} {n}", secret) for n in range(len(e.hidden))]
        for e in lesson.exercises
    }
    return with_words(lesson, words)


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
    exercises = []
    for e in lesson.exercises:
        cases = zip(e.hidden, words[e.id], strict=True) if e.id in words else ()
        hidden = [case | {VARIATION: word} for case, word in cases]
        exercises.append(replace(e, hidden=hidden or e.hidden))
    return replace(lesson, exercises=exercises)


def _word(of: str, secret: str) -> str:
    return hmac.new(secret.encode(), of.encode(), "sha256").hexdigest()[:LENGTH]

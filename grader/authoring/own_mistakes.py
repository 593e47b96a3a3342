"""A class's own known mistakes, in `mistakes.toml` beside `course.toml`: patches of right answers.

They are named beside those of the course when the class is graded, and change no points.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from grader.authoring.lesson import Lesson
from grader.errors import CourseError
from utils.text_files import read_text

FILE: Final = "mistakes.toml"
Tables = Mapping[str, Mapping[str, Any]]  # exercise -> its table


def own_mistakes(root: Path) -> Tables:
    """Read the class's own mistakes; {} if it has none.

    Raises:
        CourseError: with a line for each that cannot be used.

    """
    try:
        text = read_text(root / FILE)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{FILE} cannot be read: {error}") from None
    # Only here: most commands judge nothing, and torch takes seconds to load.
    from utils.checks.bank.table import TableError, parsed  # noqa: PLC0415

    try:
        tables = parsed(text, FILE)
    except TableError as error:
        raise CourseError(f"{error}. Correct it, then run the same command.") from None
    if faults := list(_faults(tables, text)):
        told = "\n".join(faults)
        raise CourseError(f"{told}\nCorrect what is named, then run the same command.")
    return tables


def with_own(lesson: Lesson, tables: Tables) -> Lesson:
    """Return a lesson whose exercises have the class's own mistakes beside the course's."""
    exercises = [replace(e, mistakes=tables.get(e.id, {})) for e in lesson.exercises]
    return replace(lesson, exercises=exercises) if tables else lesson


def own_in(lesson: Lesson) -> Tables:
    """Return the class's own mistakes in a lesson."""
    return {exercise.id: exercise.mistakes for exercise in lesson.exercises if exercise.mistakes}


def _faults(tables: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield why mistakes cannot be used, each with its place in the file."""
    from utils.checks.bank.table import FAMILY, TableError  # noqa: PLC0415
    from utils.checks.registry import find_exercise, with_mistakes  # noqa: PLC0415

    for exercise, table in tables.items():
        try:
            known = find_exercise(exercise)
        except AttributeError as error:
            yield f"{FILE}{_line(text, exercise)}: {error}."
            continue
        if not isinstance(table, dict):
            yield f"{FILE}{_line(text, exercise)}: write [{exercise}.NAME] above a mistake's lines."
            continue
        for name in table.keys() - {FAMILY}:
            one = {FAMILY: table.get(FAMILY, {}), name: table[name]}
            try:
                with_mistakes(known, one)
            except TableError as error:
                yield f"{FILE}{_line(text, exercise, name)}: {error}"


def _line(text: str, *names: str) -> str:
    """Return in which line a table begins, as far as it is written in the usual way."""
    name = r" *\. *".join(map(re.escape, names))
    found = re.search(rf"^ *\[? *{name}\b", text, re.MULTILINE)
    return f", line {text.count(chr(10), 0, found.start()) + 1}" if found else ""

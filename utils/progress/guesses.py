"""What a learner expects before an experiment: kept, shown beside its result, never graded.

A cell before the experiment says `guess("steps", 6)`, the cell that shows the result asks
`said("steps", 4)` for its words, and the lesson ends with `summary()`. A lesson also runs where
nobody guesses, while it is built, tested or graded: then all of this is quiet and goes on.
"""

import json
import math
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeGuard

from utils.progress import checked
from utils.progress.record import FOLDER, replace

Guess = int | float | str | list[int]
FILE: Final = "kept-guesses.json"  # no exercise's record: an exercise's id is a Python name
LARGEST, LONGEST, MOST = 1e15, 60, 64
NEAR: Final = 0.25  # a number is close if it is off by at most this share of what was measured
_here: dict[str, Guess | None] = {}  # this kernel's guesses, which no full disk can lose
_close: dict[str, bool] = {}  # whether a guess came close, once its experiment has run


def guess(name: str, expected: object = None, *, choices: Iterable[str] = ()) -> None:
    """Keep what you expect to see. It is never graded, and you may guess again.

    Args:
        name: what is guessed.
        expected: a number, a few words, or a list of places; None if you do not guess.
        choices: the words to choose from, if it is a choice.

    """
    known, kept = list(choices), _plain(expected)
    if expected is None:
        _keep(name, None)
        print("No guess yet. Put yours in place of None, or go on without.")
    elif kept is not None and (not known or kept in known):
        _keep(name, kept)
        print(f"Your guess: {_shown(kept)}. Now run the experiment.")
    else:
        wanted = "one of " + ", ".join(map(repr, known)) if known else "a number or a few words"
        print(f"Nothing was kept. Guess {wanted}.")


def guessed(name: str) -> Guess | None:
    """Return what was guessed, None if nothing was."""
    return _kept().get(name)


def said(name: str, measured: object, also: Iterable[object] = ()) -> str:
    """Return the result with the guess beside it, for a title or a printed line.

    Args:
        name: what was guessed.
        measured: what the experiment found.
        also: what is as good as that, because chance decides between them.

    """
    expected, found = guessed(name), _plain(measured)
    result = _shown(measured if found is None else found)
    if expected is None:
        return result
    right = [one for one in map(_plain, (measured, *also)) if one is not None]
    _close[name] = any(_is_close(expected, one) for one in right)
    return f"{result} (you said {_shown(expected)})"


def summary() -> str:
    """Return how many of the lesson's guesses were made and came close, for the lesson's end."""
    kept = _kept()
    made = [name for name, expected in kept.items() if expected is not None]
    if not made:
        return "You made no guesses this time, and nothing is lost: they are never graded."
    close = sum(_close.get(name, False) for name in made)
    end = "They are never graded: a miss is where there was something to learn."
    return f"You guessed {len(made)} of {len(kept)}; {close} came close or were right. {end}"


def count(learn: Path, lesson: str) -> tuple[int, int]:
    """Return how many guesses a learner made in a lesson, and how many were asked for so far.

    Args:
        learn: the folder with the learner's copies.
        lesson: the lesson's folder in it.

    """
    kept = _read(learn / FOLDER / lesson / FILE)
    return sum(expected is not None for expected in kept.values()), len(kept)


def _plain(value: object) -> Guess | None:
    """Return a guess as it is kept: whole places are sorted; None for what is no guess.

    NaN and infinity may be right guesses, and JSON has no such numbers: they are kept as words.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        places = [place for place in value if type(place) is int and abs(place) < LARGEST]
        return sorted(set(places)) if len(places) == len(value) <= MOST else None
    return value if _is_guess(value) else None


def _is_guess(value: object) -> TypeGuard[int | float | str]:
    if isinstance(value, str):
        return len(value) <= LONGEST
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < LARGEST


def _is_close(expected: Guess, found: Guess) -> bool:
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return abs(expected - found) <= NEAR * abs(found)
    if isinstance(expected, str) and isinstance(found, str):
        return expected.strip().casefold() == found.strip().casefold()
    return expected == found


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _kept() -> dict[str, Guess | None]:
    """Return what is on record for this lesson, and over it what this kernel has heard."""
    file = _file()
    return {**(_read(file) if file else {}), **_here}


def _keep(name: str, expected: Guess | None) -> None:
    _here[name] = expected
    file = _file()
    if file is not None:
        with suppress(OSError):  # a full or read-only disk must not disturb a lesson
            replace(file, dict(_kept()))


def _read(file: Path) -> dict[str, Guess | None]:
    """Return the guesses in a lesson's file; what is not a guess is left out."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    kept = found.items() if isinstance(found, dict) else ()
    return {name: _plain(v) for name, v in kept if v is None or _plain(v) is not None}


def _file() -> Path | None:
    lesson = checked.lesson_here()
    return None if lesson is None else checked.LEARN / FOLDER / lesson / FILE

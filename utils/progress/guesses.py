"""What a learner expects before an experiment: kept, shown beside its result, never graded.

A cell before the experiment says `guess("steps", 6)`, the cell that shows the result
`reveal("steps", 4)`, and the lesson ends with `summary()`. A lesson also runs where nobody guesses,
while it is built, tested or graded: then all of this is quiet and goes on.
"""

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from html import escape
from pathlib import Path
from typing import Final, TypeGuard

from IPython.display import display

from utils.card import Card
from utils.palette import BLUE
from utils.progress import checked
from utils.progress.record import FOLDER, replace

Guess = int | float | str | list[int]
FILE: Final = "kept-guesses.json"  # no exercise's record: an exercise's id is a Python name
LARGEST, LONGEST, MOST = 1e15, 60, 64
ALL: Final = "your guesses in this lesson"
NEAR: Final = 0.25  # a number is close if it is off by at most this share of what was measured
FEW: Final = 10  # a count up to here is right or wrong: 3 of 4 is not "well guessed"
RELEASE: Final = Path(__file__).resolve().parents[2] / "notebooks"
_SAME: Final = {
    "not a number": "nan",
    "infinity": "inf",
    "infinite": "inf",
    "minus infinity": "-inf",
}
_ASKS: Final = re.compile(r'^guess\("([^"]+)"', re.MULTILINE)
_SAYS: Final = {
    "exact": "Exactly.",
    "close": "Well guessed.",
    "a surprise": "A surprise. Good that you guessed: what surprises you is what you remember.",
}
_here: dict[str, Guess | None] = {}  # this kernel's guesses, which no full disk can lose
_found: dict[str, tuple[str, str]] = {}  # this kernel's results, and what each says of the guess


def guess(name: str, expected: object = None, *, choices: Iterable[str] = ()) -> None:
    """Keep what you expect to see. It is never graded, and you may guess again.

    Args:
        name: what is guessed.
        expected: a number, a few words, or a list of places; None if you do not guess.
        choices: the words to choose from, if it is a choice.

    """
    known, kept = list(choices), _plain(expected)
    if refusal := _unknown(name):
        _show(name, refusal)
    elif expected is None:
        _keep(name, None)
        _show(name, "No guess yet. Put yours in place of None, or go on without.")
    elif kept is not None and (not known or kept in known):
        _keep(name, kept)
        _show(name, f"You said {_shown(kept)}. Now run the experiment.")
    else:
        wanted = "one of " + ", ".join(map(repr, known)) if known else "a number or a few words"
        _show(name, f"Nothing was kept. Guess {wanted}.")


def guessed(name: str) -> Guess | None:
    """Return what was guessed, None if nothing was."""
    return _kept().get(name)


def reveal(name: str, measured: object, also: Iterable[object] = ()) -> None:
    """Show the result with the guess beside it on a card.

    Args:
        name: what was guessed.
        measured: what the experiment found.
        also: what is as good as that, because chance decides between them.

    """
    expected, found = guessed(name), _plain(measured)
    result = _shown(measured if found is None else found)
    if expected is None:
        _show(name, f"measured {result}", loud=True)
        return
    right = [one for one in map(_plain, (measured, *also)) if one is not None]
    close = "close" if any(_is_close(expected, one) for one in right) else "a surprise"
    how = "exact" if _shown(expected) == result else close
    _found[name] = result, how
    _show(name, f"You said {_shown(expected)} · measured {result}", _SAYS[how], loud=True)


def summary() -> Card:
    """Return a card on the lesson's guesses beside their results, for the lesson's end."""
    kept = _kept()
    made = {name: expected for name, expected in kept.items() if expected is not None}
    if not made:
        return _card(
            ALL, "You made no guesses this time, and nothing is lost: they are never graded."
        )
    close = [_found[name][1] != "a surprise" for name in made if name in _found]
    left = f", {len(made) - len(close)} still open" if len(close) < len(made) else ""
    lines = [f"{name}: you said {_shown(one)}{_outcome(name)}" for name, one in made.items()]
    end = "They are never graded: a miss is where there was something to learn."
    head = f"You guessed {len(made)} of {len(kept)}; {sum(close)} came close{left}."
    return _card(ALL, head, *lines, end)


def _outcome(name: str) -> str:
    """Return the result of a guess's experiment, in words."""
    if name not in _found:
        return "; run its experiment to see the result"
    result, how = _found[name]
    return f", measured {result} ({how})"


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
        if isinstance(found, int) and abs(found) <= FEW:
            return expected == found
        return abs(expected - found) <= NEAR * abs(found)
    if isinstance(expected, str) and isinstance(found, str):
        return _word(expected) == _word(found)
    return expected == found


def _word(text: str) -> str:
    """Return a word as it is compared: what is no number has several names."""
    plain = text.strip().casefold()
    return _SAME.get(plain, plain)


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _show(name: str, *lines: str, loud: bool = False) -> None:
    """Show a card about a guess; the first line is loud where it gives a result."""
    display(_card(name, *lines, loud=loud))  # type: ignore[no-untyped-call]


def _card(title: str, *lines: str, loud: bool = True) -> Card:
    style = "font-size: 120%; font-weight: 600;" if loud else ""
    first, *rest = (escape(line) for line in lines)
    html = f"<div style='font-size: 90%;'>{escape(title)}</div><div style='{style}'>{first}</div>"
    html += "".join(f"<div>{line}</div>" for line in rest)
    text = "\n".join([f"{title}: {lines[0]}", *lines[1:]])
    return Card(f"Guess: {title}", BLUE, html, text)


def _unknown(name: str) -> str:
    """Return a sentence about a question that the lesson does not ask, else nothing."""
    lesson = checked.lesson_here()
    questions = _questions(lesson) if lesson is not None else ()
    if not questions or name in questions:
        return ""
    near = get_close_matches(name, questions, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Change the guess, and leave the name."
    return f"The lesson asks no question of this name, so nothing was kept. {hint}"


@cache
def _questions(lesson: str) -> tuple[str, ...]:
    """Return the names of a lesson's questions, from its release; none if that is not here."""
    try:
        cells = json.loads((RELEASE / lesson / f"{lesson}.ipynb").read_bytes())["cells"]
    except (OSError, ValueError):
        return ()
    sources = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return tuple(name for source in sources for name in _ASKS.findall(source))


def _kept() -> dict[str, Guess | None]:
    """Return what is on record for this lesson, and over it what this kernel has heard."""
    file = _file()
    return {**(_read(file) if file else {}), **_here}


def _keep(name: str, expected: Guess | None) -> None:
    _here[name] = expected
    _found.pop(name, None)  # the result stood beside another guess
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

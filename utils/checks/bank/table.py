"""Tables of known mistakes, in TOML: what is patched, and what the student is told.

    [squared_distance]
    patch = ['.abs()', '**2']
    message = "The distance is squared."
    hint = "The distance is |t - s|."

`patch` is old and new text in turn. Mistakes of a family write what they share once, below
`[family.NAME]`: a message, a hint or a patch, in which {words} are filled by the mistake's own.
What several exercises of a lesson share stands in `families.toml`, below `[NAME]`. What neither a
mistake nor the family that it names says comes from the family with its own name, if there is one.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from utils.checks.bank.patched import PatchError, patched
from utils.checks.bank.source import Source
from utils.checks.combining import made
from utils.checks.exercise import Mistake

FAMILY: Final = "family"
FAMILIES: Final = "families.toml"  # those that exercises of a lesson share
SENTENCES: Final = ("message", "hint")
WORD: Final = re.compile(r"\{\w+\}")
Table = Mapping[str, Any]


class TableError(ValueError):
    """A table of mistakes that cannot be used; the message has a line for each fault."""


def read_table(path: Path) -> Table:
    """Read a table, together with the families that lie beside it; {} if there is none.

    Raises:
        TableError: it is no TOML; the message says in which line.

    """
    if not path.is_file():
        return {}
    table, shared = _toml(path), path.with_name(FAMILIES)
    families = _toml(shared) if shared.is_file() else {}
    return {**table, FAMILY: {**families, **table.get(FAMILY, {})}}


@cache
def _toml(path: Path) -> Table:
    return parsed(path.read_text(encoding="utf-8"), path.name)


def parsed(text: str, name: str) -> Table:
    """Read TOML.

    Raises:
        TableError: the text is none; the message says in which line.

    """
    try:
        return tomllib.loads(text)
    except ValueError as error:
        at_end = f"at the end, line {len(text.splitlines())}"
        why = str(error).replace("at end of document", at_end)
        raise TableError(f"{name} is not TOML: {why}") from None


def mistakes_of(table: Table, source: Source, stand_ins: Mapping[str, Any]) -> tuple[Mistake, ...]:
    """Return the mistakes of a table.

    Args:
        table: of one exercise.
        source: its right source.
        stand_ins: what its answers see of earlier exercises.

    Raises:
        TableError: with a line for each mistake that cannot be used.

    """
    families = table.get(FAMILY, {})
    found, faults = [], []
    for name, entry in table.items():
        if name != FAMILY:
            try:
                found.append(_mistake(name, entry, families, source, stand_ins))
            except (PatchError, TableError) as error:
                faults.append(f"{source.exercise}: {name}: {error}.")
    if faults:
        raise TableError("\n".join(faults))
    return tuple(found)


def verify_patches(exercise: str, mistakes: Iterable[Mistake]) -> None:
    """Compile the patched answers to an exercise.

    Raises:
        TableError: with a line for each that cannot be run.

    """
    faults = []
    for mistake in mistakes:
        try:
            made(mistake.answer)
        except Exception as error:  # whatever the code does when it is run
            why = f"the patched answer cannot be run, {type(error).__name__}: {error}"
            faults.append(f"{exercise}: {mistake.name}: {why}.")
    if faults:
        raise TableError("\n".join(faults))


def _mistake(
    name: str, entry: Any, families: Table, source: Source, stand_ins: Mapping[str, Any]
) -> Mistake:
    if not isinstance(entry, dict):
        raise TableError(f"it must be a table, [{name}], with patch, message and hint")
    told = _filled(entry, families, families.get(name, {}))
    patch = told["patch"]
    if not patch or len(patch) % 2:
        raise TableError("a patch is a list of old and new text in turn")
    message, hint = (" ".join(told[part].split()) for part in SENTENCES)
    return Mistake(name, message, hint, patched(source, patch, stand_ins))


def _filled(entry: Table, families: Table, namesake: Table) -> dict[str, Any]:
    """Return a mistake's patch, message and hint, those of its families filled with its words."""
    own = dict(entry)
    named = families.get(str(own.get(FAMILY)), {})
    if FAMILY in own and not named:
        raise TableError(f"there is no [family.{own[FAMILY]}]")
    family = {**namesake, **named}
    words = {key: own.pop(key) for key in entry if key not in (FAMILY, "patch", *SENTENCES)}
    told: dict[str, Any] = {p: own.get(p, family.get(p)) for p in ("patch", *SENTENCES)}
    if missing := [part for part, value in told.items() if value is None]:
        raise TableError(f"it lacks {' and '.join(missing)}")
    if not all(isinstance(text, str) for text in words.values()):
        raise TableError("what fills a family's sentences is text, in quotes")
    texts = [*_texts(told["patch"]), *(text for part in SENTENCES for text in _texts([told[part]]))]
    if unused := [word for word in words if not any(f"{{{word}}}" in text for text in texts)]:
        raise TableError(f"nothing says what {' and '.join(unused)} is for")
    filled = {part: told[part] if part in own else _fill(told[part], words) for part in told}
    given = [filled[part] for part in SENTENCES if part not in own]
    if left := [word for text in given for word in WORD.findall(text)]:
        raise TableError(f"nothing fills {' and '.join(left)} in what its family says")
    return filled


def _texts(values: Any) -> Iterator[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TableError("patch is a list of texts, and message and hint are texts")
    yield from values


def _fill(value: Any, words: Mapping[str, Any]) -> Any:
    """Put a mistake's words into what its family says."""
    if isinstance(value, list):
        return [_fill(one, words) for one in value]
    for word, text in words.items():
        value = value.replace(f"{{{word}}}", text)
    return value

"""Read and write a lesson's file of fingerprints: a line for each mistake, numbers alone."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from utils.checks.framework.fingerprints import (
    Fingerprint,
    Fingerprints,
    Numbers,
    Print,
    combined,
    same_print,
)

_RIGHT = 1  # stands where a mistake gives what is right


def read(path: Path) -> dict[str, Fingerprints]:
    """Read a lesson's file: exercise id -> its fingerprints.

    Without a file, or with a damaged one, a check does without likenesses.

    """
    found = {name: read_exercise(path, name) for name in _stored_in(path)}
    return {name: kept for name, kept in found.items() if kept is not None}


@cache
def read_exercise(path: Path, exercise: str) -> Fingerprints | None:
    """Read what a lesson's file keeps of one exercise; None if that is nothing."""
    try:
        return _from_json(_stored_in(path)[exercise])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@cache
def _stored_in(path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def write(path: Path, found: Mapping[str, Fingerprints]) -> None:
    """Write a lesson's file."""
    entries = (
        f"{json.dumps(name)}: {{\n" + ",\n".join(_lines(kept)) + "\n}"
        for name, kept in sorted(found.items())
    )
    path.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")
    forget()


def forget() -> None:
    """Forget what was read, since files have changed."""
    _stored_in.cache_clear()
    read_exercise.cache_clear()


def _lines(kept: Fingerprints) -> Iterator[str]:
    yield f'"stamp": {json.dumps(kept.stamp)}'
    yield f'"cases": {json.dumps(kept.cases)}'
    yield f'"right": {_dense([_compact(one) for one in kept.right])}'
    yield f'"mistakes": {_rows(kept.mistakes, kept.right)}'
    yield f'"pairs": {_rows(kept.pairs, tuple(map(combined, kept.right)))}'
    yield f'"bank_stamp": {json.dumps(kept.bank_stamp)}'
    bank = tuple(Fingerprint((name,), prints) for name, prints in kept.bank.items())
    yield f'"bank": {_rows(bank, kept.right)}'


def _rows(mistakes: tuple[Fingerprint, ...], right: tuple[Print | None, ...]) -> str:
    rows = (
        _dense([m.as_if, [_RIGHT if same_print(a, b) else _compact(a) for a, b in _both(m, right)]])
        for m in mistakes
    )
    return "[\n" + ",\n".join(rows) + "\n]"


def _both(
    mistake: Fingerprint, right: tuple[Print | None, ...]
) -> Iterator[tuple[Print | None, Print | None]]:
    return zip(mistake.prints, right, strict=True)


def _compact(one: Print | None) -> object:
    """Write whole numbers without their point, and what has no name without one."""
    if one is None:
        return None
    short = {
        name: [int(n) if float(n).is_integer() and abs(n) < 1e6 else n for n in numbers]
        for name, numbers in one.items()
    }
    return short.get("", short)


def _dense(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _from_json(entry: Mapping[str, Any]) -> Fingerprints:
    right = tuple(_print(stored) for stored in entry["right"])
    right_together = tuple(map(combined, right))
    return Fingerprints(
        entry["stamp"],
        tuple(entry["cases"]),
        right,
        tuple(_mistake(row, right) for row in entry["mistakes"]),
        tuple(_mistake(row, right_together) for row in entry["pairs"]),
        entry["bank_stamp"],
        {row[0][0]: _mistake(row, right).prints for row in entry["bank"]},
    )


def _mistake(row: tuple[list[str], list[Any]], right: tuple[Print | None, ...]) -> Fingerprint:
    as_if, prints = row
    read_ = (
        known if one == _RIGHT else _print(one) for one, known in zip(prints, right, strict=True)
    )
    return Fingerprint(tuple(as_if), tuple(read_))


def _print(stored: Any) -> Print | None:
    if stored is None:
        return None
    named = stored if isinstance(stored, dict) else {"": stored}
    return {name: cast("Numbers", tuple(numbers)) for name, numbers in named.items()}

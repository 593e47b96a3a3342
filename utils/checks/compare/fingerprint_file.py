"""Read and write a lesson's file of fingerprints: a line for each mistake, numbers alone.

What is as the right answer's is written as 1: a whole case, or one of several results. Results that
have the right one's names are a list in their order.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from utils.checks.compare.fingerprints import Fingerprints, Print, alike, same_print

_RIGHT = 1
_FORM, _NUMBERS = 2, 3  # of a result: what says its form, and the others


@cache
def read_exercise(path: Path, exercise: str) -> Fingerprints | None:
    """Read what a lesson's file keeps of one exercise; None if that is nothing.

    Without a file, or with a damaged one, a check tries every known mistake.
    """
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
    rows = (_dense([name, _row(prints, kept.right)]) for name, prints in kept.bank.items())
    yield '"bank": [\n' + ",\n".join(rows) + "\n]"


def _row(prints: Sequence[Print | None], right: Sequence[Print | None]) -> list[object]:
    pairs = zip(prints, right, strict=True)
    return [_RIGHT if same_print(one, known) else _compact(one, known) for one, known in pairs]


def _compact(one: Print | None, right: Print | None = None) -> object:
    """Write whole numbers without their point, what has no name without one, and no form twice."""
    if one is None:
        return None
    short: dict[str, object] = {
        name: [
            int(n) if float(n).is_integer() and abs(n) < 1e6 else float(f"{n:.5g}")
            for n in numbers[_FORM * (_form_of(right, name) == numbers[:_FORM]) :]
        ]
        for name, numbers in one.items()
    }
    if right is not None and len(one) > 1 and [*one] == [*right]:
        return [_RIGHT if alike(one[n], right[n]) else numbers for n, numbers in short.items()]
    return short.get("", short)


def _form_of(right: Print | None, name: str) -> tuple[float, ...]:
    return right[name][:_FORM] if right is not None and name in right else ()


def _dense(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _from_json(entry: Mapping[str, Any]) -> Fingerprints:
    right = tuple(_print(stored) for stored in entry["right"])
    bank = {name: _prints(row, right) for name, row in entry["bank"]}
    return Fingerprints(entry["stamp"], tuple(entry["cases"]), right, bank)


def _prints(row: Sequence[Any], right: Sequence[Print | None]) -> tuple[Print | None, ...]:
    pairs = zip(row, right, strict=True)
    return tuple(known if one == _RIGHT else _print(one, known) for one, known in pairs)


def _print(stored: Any, right: Print | None = None) -> Print | None:
    if stored is None:
        return None
    named = stored if isinstance(stored, dict) else {"": stored}
    if right is not None and any(isinstance(part, list) for part in named.get("", ())):
        named = dict(zip(right, stored, strict=True))
    whole = {
        name: right[name]
        if right is not None and numbers == _RIGHT
        else (*(_form_of(right, name) if len(numbers) == _NUMBERS else ()), *numbers)
        for name, numbers in named.items()
    }
    return cast("Print", whole)

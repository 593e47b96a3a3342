"""Render a verdict: as a card of HTML in a notebook, in the same words as text elsewhere.

Both say what went wrong first, then where to look, what was seen, the cases and the points. Beside
each colour stand a mark and a word.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from utils.card import LINE, card
from utils.checks.compare.compare import Finding, number
from utils.checks.mime import MIME
from utils.checks.observation import Array, ProblemKind
from utils.checks.verdict import CaseResult, Note, Verdict
from utils.palette import AMBER, DARK, INK, LIGHT, NEARLY, OPEN, RIGHT, WRONG, Sign
from utils.words import counted

_LABEL = "margin-top: 6px; font-size: 90%;"
_LOUD = "font-size: 120%; font-weight: 600; line-height: 1.35;"
_ROW = "display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: center;"
_MOST_ROWS, _MOST_COLUMNS = 8, 12
_MOST_SAID = 140  # characters of a note that is not folded
_LOOK, _OBSERVED = "Where to look:", "What was seen:"
_MISSING = "Not met:"
_UNKNOWN = "The check knows no mistake that explains this."
# What says itself why it is wrong, or of which no cause is sought.
_OF_ITSELF = (ProblemKind.CHECK, ProblemKind.MISSING, ProblemKind.FORBIDDEN, ProblemKind.ATTRIBUTE)
_ODD = "rgb({}, {}, {})".format(*bytes.fromhex(AMBER[1:]))


class _Kind(NamedTuple):
    """What is said of some cases alike, with a mark beside the colour."""

    mark: str
    word: str
    sign: Sign


_WRONG = _Kind("✗", "Wrong", WRONG)
_MISSED = _Kind("◐", "Extra demand missed", NEARLY)
_RIGHT = _Kind("✓", "Right", RIGHT)
_OPEN = _Kind("○", "Open", OPEN)
_DOUBTED = _Kind("!", "Does not count", NEARLY)


def as_mimebundle(verdict: Verdict) -> dict[str, Any]:
    """Return what a notebook shows: text, HTML, and the verdict for machines."""
    data = json.dumps(verdict.as_json())  # a string: nbval compares outputs as text
    return {"text/plain": as_text(verdict), "text/html": as_html(verdict), MIME: data}


def headline(verdict: Verdict) -> str:
    """Return one line that says how it went."""
    n_passed, n_cases = sum(r.passed for r in verdict.results), len(verdict.results)
    if verdict.doubt:
        return "does not count"
    if verdict.is_stub:
        return "not written yet"
    if verdict.passed:
        return f"all {n_cases} cases pass" if n_cases > 1 else "right"
    if verdict.idea_is_right:
        return f"the main task is right; {_demands_met(verdict.demands)}"
    return f"{n_passed} of {n_cases} cases pass" if n_cases > 1 else "not yet right"


def _demands_met(met: Mapping[str, bool]) -> str:
    """Return how many of the demands beside the main task are met, where some are not."""
    if len(met) == 1:
        return "the extra demand is not met"
    n_met = sum(met.values())
    says = f"{n_met or 'none'} of the {len(met)} extra demands"
    return f"{says} {'are' if n_met > 1 else 'is'} met"


def _missing(verdict: Verdict) -> str:
    """Return the demands that are not met, if nothing but demands is missing."""
    missed = [demand for demand, met in verdict.demands.items() if not met]
    return ", ".join(missed) if verdict.idea_is_right and not verdict.doubt else ""


def _kind(verdict: Verdict) -> _Kind:
    if verdict.doubt:
        return _DOUBTED
    if verdict.is_stub:
        return _OPEN
    return _RIGHT if verdict.passed else _MISSED if verdict.idea_is_right else _WRONG


def _by_kind(results: Sequence[CaseResult]) -> dict[_Kind, list[str]]:
    """Return the names of cases by what is said of them, what fails first."""
    found: dict[_Kind, list[str]] = {_WRONG: [], _MISSED: [], _RIGHT: []}
    for r in results:
        beside = r.idea_holds or not r.case.is_core
        found[_RIGHT if r.passed else _MISSED if beside else _WRONG].append(r.case.name)
    return {kind: names for kind, names in found.items() if names}


def as_text(verdict: Verdict) -> str:
    """Return the verdict as plain text."""
    lines = [f"{_kind(verdict).mark} {verdict.exercise}: {headline(verdict)}"]
    if verdict.points is not None:
        lines[0] += f" ({_points(verdict)})"
    if verdict.doubt:
        return "\n".join([*lines, verdict.doubt, *_that_version(verdict)])
    failure = verdict.first_failure
    if failure is not None and failure.finding is not None:
        lines += [f"{label} {text}" for label, text in _causes(verdict)]
        lines.append(_seen(verdict, failure.case.name, failure.finding))
        lines += _indented(_lines(verdict, failure.finding))
        lines += [_UNKNOWN] if _is_unknown(verdict, failure.finding) else []
    if _shows_cases(verdict):
        cases = _by_kind(verdict.results).items()
        lines += [f"  {kind.mark} {name}" for kind, names in cases for name in names]
    lines += [f"  {_MISSING} {missing}"] if (missing := _missing(verdict)) else []
    lines += [line for note in verdict.notes for line in (note.says, *_indented(note.lines))]
    return "\n".join(lines)


def _points(verdict: Verdict) -> str:
    return f"{verdict.score:g} of {verdict.points:g} points"


def _that_version(verdict: Verdict) -> list[str]:
    """Return the result that does not count, if there is one."""
    was = headline(replace(verdict, doubt=""))
    return [f"That version: {was}."] if verdict.results else []


def _shows_cases(verdict: Verdict) -> bool:
    shown = not (verdict.passed or verdict.is_stub or verdict.doubt)
    return shown and len(verdict.results) > 1


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _causes(verdict: Verdict) -> list[tuple[str, str]]:
    """Return what explains a failure, each with its label: the known mistakes, or symptoms."""
    lines = []
    for mistake, label in ((verdict.mistake, "What this usually means:"), (verdict.second, "And:")):
        if mistake is not None:
            lines.append((label, mistake.message))
            lines += [(_LOOK, mistake.hint)] if mistake.hint else []
    return lines or [(_OBSERVED, text) for text in verdict.symptoms if not verdict.is_stub]


def _is_unknown(verdict: Verdict, finding: Finding) -> bool:
    """Return whether a cause was sought and nothing is known."""
    return not (verdict.is_stub or _causes(verdict) or finding.kind in _OF_ITSELF)


def _seen(verdict: Verdict, case: str, finding: Finding) -> str:
    """Return what was found in the case that is shown; of a stub, what to do."""
    if verdict.is_stub:
        return " ".join(verdict.symptoms) or finding.message
    named = len(verdict.results) > 1
    return f"Case “{case}”: {finding.message}" if named else finding.message


def _lines(verdict: Verdict, finding: Finding) -> list[str]:
    """Return the entries that differ, and the student's line."""
    line = [f"in your line: {finding.line}"] if finding.line and not verdict.is_stub else []
    return [*finding.details, *line]


def as_html(verdict: Verdict) -> str:
    """Return the verdict as a card."""
    kind, failure = _kind(verdict), verdict.first_failure
    title = (
        f"<div role='heading' aria-level='3' style='{_ROW} margin: 0; font-size: 100%;'>"
        f"{_badge(kind.mark, kind.sign)}<b>{escape(verdict.exercise)}:</b> "
        f"<span>{escape(headline(verdict))}</span></div>"
    )
    parts = [title]
    if verdict.doubt:
        parts += [f"<div style='{_LOUD}'>{_code(verdict.doubt)}</div>"]
        parts += [_line(escape(text)) for text in _that_version(verdict)]
    elif failure is not None and failure.finding is not None:
        parts += _explained(verdict, failure.case.name, failure.finding)
    parts += [_cases(verdict)] if _shows_cases(verdict) else []
    if missing := _missing(verdict):
        parts.append(_line(f"<b>{_MISSING}</b> {escape(missing)}"))
    parts += map(_note, verdict.notes)
    if verdict.points is not None:
        parts.append(_line(f"<b>Points:</b> {_points(verdict)}"))
    return card(f"Check of {verdict.exercise}", kind.sign.ground, "".join(parts))


def _badge(mark: str, sign: Sign) -> str:
    """Draw a mark on its colour."""
    return (
        f"<span style='color: {sign.ink}; background-color: {sign.ground}; flex: none; "
        "width: 1.45em; border-radius: 999px; font-weight: 700; line-height: 1.45; "
        "text-align: center;'>"
        f"{mark}</span>"
    )


def _explained(verdict: Verdict, case: str, finding: Finding) -> Iterator[str]:
    """Say what went wrong in large type, where to look, and then what was seen."""
    causes, seen = _causes(verdict), _seen(verdict, case, finding)
    for label, text in causes or ([] if verdict.is_stub else [(_OBSERVED, seen)]):
        if label == _LOOK:
            yield _line(f"<b>{label}</b> {_code(text)}")
        elif label == _OBSERVED and (label, text) in causes[1:]:  # a second symptom
            yield _line(_code(text))
        else:
            yield f"<div style='{_LABEL}'>{label}</div><div style='{_LOUD}'>{_code(text)}</div>"
    if causes or verdict.is_stub:
        yield _line(_code(seen))
    elif _is_unknown(verdict, finding):
        yield _line(_UNKNOWN)
    yield _listing(_lines(verdict, finding))
    if finding.pictures is not None:
        yield _pictures(*finding.pictures)


def _line(html: str) -> str:
    return f"<div style='margin-top: 6px;'>{html}</div>"


def _code(text: str) -> str:
    """Escape text, and mark up what is between backticks as code."""
    parts = escape(text).split("`")
    style = "color: inherit; background-color: transparent; padding: 0; border: none;"
    return "".join(f"<code style='{style}'>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


def _cases(verdict: Verdict) -> str:
    """List the cases as pills, those that fail first, with a word for each colour."""
    rows = []
    for kind, names in _by_kind(verdict.results).items():
        pills = "".join(_pill(kind, name) for name in names)
        rows.append(
            f"<div style='{_ROW} margin-top: 6px;'><b>{kind.word}:</b>"
            f"<ul role='list' style='{_ROW} list-style-type: none; margin: 0; padding: 0;'>"
            f"{pills}</ul></div>"
        )
    return "".join(rows)


def _pill(kind: _Kind, name: str) -> str:
    style = f"border: 1px solid {LINE}; border-radius: 999px; margin: 0; padding: 0 9px 0 1px;"
    return f"<li style='{_ROW} {style}'>{_badge(kind.mark, kind.sign)}{escape(name)}</li>"


def _note(note: Note) -> str:
    """Write what the answer printed or was warned of, folded if it is longer than a sentence."""
    says, lines = _code(note.says), _listing(note.lines)
    if len(note.says) <= _MOST_SAID:
        return f"<div style='{_LABEL}'>{says}{lines}</div>"
    summary = f"<summary>{escape(shorten(note.says, 80, placeholder=' …'))}</summary>"
    return f"<details style='{_LABEL}'>{summary}{says}{lines}</details>"


def _listing(lines: Sequence[str]) -> str:
    style = "font-family: monospace; font-size: 90%; margin-top: 4px; white-space: pre-wrap;"
    listing = "<br>".join(escape(line) for line in lines)
    return f"<div style='{style}'>{listing}</div>" if listing else ""


def _pictures(wanted: Array, got: Array) -> str:
    """Draw what was expected and the result side by side, with a key, and their numbers below."""
    both = np.concatenate([wanted.astype(float).ravel(), got.astype(float).ravel()])
    finite = both[np.isfinite(both)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    pair = {"expected": wanted, "got": got}
    maps = [_heat_map(label, one, low, high) for label, one in pair.items()]
    ends = [number(bool(end) if wanted.dtype == got.dtype == bool else end) for end in (low, high)]
    key = _key(*ends, odd=finite.size < both.size)
    numbers = "\n".join(f"{label}\n{_written(one)}" for label, one in pair.items())
    return (
        f"<div style='display: flex; flex-wrap: wrap; gap: 4px 24px; margin-top: 6px;'>"
        f"{''.join(maps)}{key}</div>"
        f"<details style='{_LABEL}'><summary>These numbers</summary><pre style='margin: 0; "
        "color: inherit; background-color: transparent; white-space: pre-wrap;'>"
        f"{escape(numbers)}</pre></details>"
    )


def _cut(matrix: Array) -> Array:
    return matrix[:_MOST_ROWS, :_MOST_COLUMNS]


def _written(matrix: Array) -> str:
    return "\n".join("  " + " ".join(map(number, row)) for row in _cut(matrix))


def _key(low: str, high: str, *, odd: bool) -> str:
    """Say what the shades mean, and the mark of what is no finite number."""
    steps = "".join(
        f"<span style='width: 12px; height: 16px; background-color: {_hex(n / 7)};'></span>"
        for n in range(8)
    )
    scale = (
        f"<div style='display: inline-flex; border: 1px solid {LINE};'>{steps}</div>"
        f"<div>light is {low}, dark is {high}</div>"
    )
    mark = f"<div style='{_ROW}'>{_badge('!', NEARLY)}no finite number</div>" if odd else ""
    return f"<div><div>key</div>{scale}{mark}</div>"


def _heat_map(label: str, matrix: Array, low: float, high: float) -> str:
    """Draw a small table of coloured cells: unlike SVG, it survives every sanitizer."""
    shown = _cut(matrix)
    rows = "".join(f"<tr>{''.join(_cell(v, low, high) for v in row)}</tr>" for row in shown)
    note = f"<div>the first entries of {matrix.shape}</div>" if matrix.shape != shown.shape else ""
    size = " and ".join(
        counted(n, what) for n, what in zip(shown.shape, ("row", "column"), strict=True)
    )
    return (
        f"<div><div>{label}</div><div role='img' aria-label='{label}: {size} of shades'>"
        f"<table style='border-collapse: collapse; border: 1px solid {LINE}; margin: 0; "
        f"font-size: 11px; color: {INK};'>{rows}</table></div>{note}</div>"
    )


def _cell(value: np.generic, low: float, high: float) -> str:
    size = (
        "width: 16px; height: 16px; min-width: 16px; padding: 0; border: none; text-align: center;"
    )
    colour, mark = _colour(float(value), low, high)
    return f"<td title='{number(value)}' style='{size} background-color: {colour};'>{mark}</td>"


def _colour(value: float, low: float, high: float) -> tuple[str, str]:
    """Return a shade, which all readers can tell apart; a colour and a mark if it is not finite."""
    if not np.isfinite(value):
        return _ODD, "!"
    share = (value - low) / (high - low) if high > low else 0.5
    return f"rgb{_shade(share)}", ""


def _shade(share: float) -> tuple[int, ...]:
    light, dark = np.array(LIGHT), np.array(DARK)
    return tuple(map(int, light + share * (dark - light)))


def _hex(share: float) -> str:
    return f"#{bytes(_shade(share)).hex()}"

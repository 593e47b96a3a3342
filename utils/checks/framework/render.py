"""Render a verdict: as HTML in a notebook, in the same words as text elsewhere."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from utils.checks.framework.compare import Finding, number
from utils.checks.framework.mime import MIME
from utils.checks.framework.observation import Array
from utils.checks.framework.verdict import Verdict

# JupyterLab's own colours if it sets any, so that dark themes stay readable.
_GOOD = "var(--jp-success-color1, #2e7d32)"
_DOUBT = "var(--jp-warn-color1, #b26a00)"
_BAD = "var(--jp-error-color1, #c62828)"
_QUIET = "var(--jp-ui-font-color2, #616161)"
_LINE = "var(--jp-border-color2, #bdbdbd)"
_MOST_ROWS, _MOST_COLUMNS = 8, 12


def as_mimebundle(verdict: Verdict) -> dict[str, Any]:
    """Return what a notebook shows: text, HTML, and the verdict for machines."""
    data = json.dumps(verdict.as_json())  # a string: nbval compares outputs as text
    return {"text/plain": as_text(verdict), "text/html": as_html(verdict), MIME: data}


def headline(verdict: Verdict) -> str:
    """Return one line that says how it went."""
    if verdict.doubt:
        text = "does not count"
    elif verdict.is_stub:
        text = "not written yet"
    elif verdict.passed:
        text = f"all {len(verdict.results)} cases pass" if len(verdict.results) > 1 else "right"
    elif verdict.idea_is_right:
        text = f"the idea is right; also asked: {asked(verdict)}"
    else:
        n_passed = sum(r.passed for r in verdict.results)
        text = f"{n_passed} of {len(verdict.results)} cases pass"
        text = text if len(verdict.results) > 1 else "not yet right"
    if verdict.points is not None:
        text += f" ({verdict.score:g} of {verdict.points:g} points)"
    return text


def asked(verdict: Verdict) -> str:
    """Return how much of what is asked beside the idea an answer does, and what it misses."""
    missed = [demand for demand, met in verdict.demands.items() if not met]
    done = len(verdict.demands) - len(missed)
    return f"{done} of {len(verdict.demands)}, missing: {', '.join(missed)}"


def as_text(verdict: Verdict) -> str:
    """Return the verdict as plain text."""
    if verdict.doubt:
        return "\n".join([f"! {verdict.exercise}: {headline(verdict)}", *_doubted(verdict)])
    lines = [f"{'✓' if verdict.passed else '✗'} {verdict.exercise}: {headline(verdict)}"]
    failure = verdict.first_failure
    if failure is not None and failure.finding is not None:
        lines += _failure_as_text(verdict, failure.finding)
    lines += [line for note in verdict.notes for line in (note.says, *_indented(note.lines))]
    return "\n".join(lines)


def _failure_as_text(verdict: Verdict, finding: Finding) -> list[str]:
    lines = []
    if not verdict.is_stub:
        lines += [f"  {'✓' if r.passed else '✗'} {r.case.name}" for r in verdict.results]
    lines.append(f"{_opening(verdict)}{finding.message}")
    lines += _indented(finding.details)
    lines += [f"  in your line: {finding.line}"] if finding.line and not verdict.is_stub else []
    return [*lines, *(f"{label} {text}" for label, text in _causes(verdict))]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _doubted(verdict: Verdict) -> list[str]:
    """Return what is said of a result that does not count: why, and which one it is."""
    was = headline(replace(verdict, doubt=""))
    return [verdict.doubt, *([f"That version: {was}."] if verdict.results else [])]


def as_html(verdict: Verdict) -> str:
    """Return the verdict as one compact block of HTML with inline styles only."""
    if verdict.doubt:
        style = f"border-left: 4px solid {_DOUBT}; padding: 2px 0 2px 12px; line-height: 1.5;"
        title = f"<div><b style='color: {_DOUBT};'>! {escape(verdict.exercise)}</b>: "
        body = "".join(map(_paragraph, _doubted(verdict)))
        return f"<div style='{style}'>{title}{headline(verdict)}</div>{body}</div>"
    colour = _GOOD if verdict.passed else _QUIET if verdict.is_stub else _BAD
    mark = "✓" if verdict.passed else "○" if verdict.is_stub else "✗"
    style = f"border-left: 4px solid {colour}; padding: 2px 0 2px 12px; line-height: 1.5;"
    title = f"<b style='color: {colour};'>{mark} {escape(verdict.exercise)}</b>: "
    notes = (_paragraph(note.says) + _listing(note.lines) for note in verdict.notes)
    body = "".join([*_body(verdict), *notes])
    return f"<div style='{style}'><div>{title}{headline(verdict)}</div>{body}</div>"


def _body(verdict: Verdict) -> list[str]:
    failure = verdict.first_failure
    if failure is None or failure.finding is None:
        return []
    finding = failure.finding
    if verdict.is_stub:
        return [f"<div>{escape(finding.message)}</div>"]
    parts = [_case_list(verdict), _paragraph(f"{_opening(verdict)}{finding.message}")]
    parts += [_evidence(finding)]
    return [*parts, *(_paragraph(text, label) for label, text in _causes(verdict))]


def _causes(verdict: Verdict) -> list[tuple[str, str]]:
    """Return what explains a failure, each with its label: the known mistakes, or symptoms."""
    lines = []
    for mistake, label in ((verdict.mistake, "What this usually means:"), (verdict.second, "And:")):
        if mistake is not None:
            lines.append((label, mistake.message))
            lines += [("Where to look:", mistake.hint)] if mistake.hint else []
    return lines or [("What was seen:", text) for text in verdict.symptoms]


def _opening(verdict: Verdict) -> str:
    failure = verdict.first_failure
    if failure is None or len(verdict.results) == 1 or verdict.is_stub:
        return ""
    return f"Case “{failure.case.name}”: "


def _paragraph(text: str, label: str = "") -> str:
    strong = f"<b>{escape(label)}</b> " if label else ""
    return f"<div style='margin-top: 4px; max-width: 46em;'>{strong}{_code(text)}</div>"


def _code(text: str) -> str:
    """Escape text, and mark up what is between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


def _case_list(verdict: Verdict) -> str:
    items = [
        f"<span style='color: {_GOOD if r.passed else _BAD}; margin-right: 1.2em; "
        f"white-space: nowrap;'>{'✓' if r.passed else '✗'} {escape(r.case.name)}</span>"
        for r in verdict.results
    ]
    return f"<div style='margin-top: 2px;'>{' '.join(items)}</div>"


def _evidence(finding: Finding) -> str:
    lines = [*finding.details, *([f"in your line: {finding.line}"] if finding.line else [])]
    pictures = "" if finding.pictures is None else _pictures(*finding.pictures)
    return _listing(lines) + pictures


def _listing(lines: Sequence[str]) -> str:
    style = "font-family: monospace; font-size: 90%; margin-top: 4px;"
    listing = "<br>".join(escape(line) for line in lines)
    return f"<div style='{style}'>{listing}</div>" if listing else ""


def _pictures(wanted: Array, got: Array) -> str:
    both = np.concatenate([wanted.astype(float).ravel(), got.astype(float).ravel()])
    finite = both[np.isfinite(both)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    cells = "".join(
        f"<td style='padding: 0 1.5em 0 0; text-align: left; vertical-align: top; "
        f"background: transparent;'><div style='color: {_QUIET};'>{label}</div>"
        f"{_heat_map(matrix, low, high)}</td>"
        for label, matrix in (("expected", wanted), ("got", got))
    )
    return f"<table style='border: none; margin: 6px 0 0 0;'><tr>{cells}</tr></table>"


def _heat_map(matrix: Array, low: float, high: float) -> str:
    """Draw a small table of coloured cells: unlike SVG, it survives every sanitizer."""
    shown = matrix[:_MOST_ROWS, :_MOST_COLUMNS]
    rows = "".join(f"<tr>{''.join(_cell(v, low, high) for v in row)}</tr>" for row in shown)
    cut = matrix.shape != shown.shape
    note = f"<div style='color: {_QUIET};'>the first entries of {matrix.shape}</div>" if cut else ""
    table = f"<table style='border-collapse: collapse; border: 1px solid {_LINE}; margin: 0;'>"
    return f"{table}{rows}</table>{note}"


def _cell(value: np.generic, low: float, high: float) -> str:
    size = "width: 16px; height: 16px; min-width: 16px; padding: 0; border: none;"
    colour = _colour(float(value), low, high)
    return f"<td title='{number(value)}' style='{size} background-color: {colour};'></td>"


def _colour(value: float, low: float, high: float) -> str:
    """Return white to dark blue, which all readers can tell apart, or orange if not finite."""
    if not np.isfinite(value):
        return "rgb(230, 120, 0)"
    share = (value - low) / (high - low) if high > low else 0.5
    light, dark = np.array([247, 251, 255]), np.array([8, 48, 107])
    red, green, blue = (light + share * (dark - light)).astype(int)
    return f"rgb({red}, {green}, {blue})"

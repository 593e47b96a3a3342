"""Show a verdict: HTML in a notebook, the same words as text elsewhere."""

from html import escape

import numpy as np

from utils.checks.compare import Finding, number
from utils.checks.observation import Array
from utils.checks.verdict import Verdict

# JupyterLab's own colours where there are any, so that dark themes stay readable.
_GOOD = "var(--jp-success-color1, #2e7d32)"
_BAD = "var(--jp-error-color1, #c62828)"
_QUIET = "var(--jp-ui-font-color2, #616161)"
_LINE = "var(--jp-border-color2, #bdbdbd)"
_MOST_ROWS, _MOST_COLUMNS = 8, 12


def headline(verdict: Verdict) -> str:
    """One line that says how it went."""
    if verdict.is_stub:
        text = "not written yet"
    elif verdict.passed:
        text = f"all {len(verdict.results)} cases pass" if len(verdict.results) > 1 else "right"
    else:
        n_passed = sum(r.passed for r in verdict.results)
        text = f"{n_passed} of {len(verdict.results)} cases pass"
        text = text if len(verdict.results) > 1 else "not yet right"
    if verdict.points is not None:
        text += f" ({verdict.score:g} of {verdict.points:g} points)"
    return text


def as_text(verdict: Verdict) -> str:
    """The verdict as plain text."""
    lines = [f"{'✓' if verdict.passed else '✗'} {verdict.exercise}: {headline(verdict)}"]
    failure = verdict.first_failure
    if failure is None or failure.finding is None:
        return lines[0]
    finding = failure.finding
    if not verdict.is_stub:
        lines += [f"  {'✓' if r.passed else '✗'} {r.case.name}" for r in verdict.results]
    lines.append(f"{_opening(verdict)}{finding.says}")
    lines += [f"  {detail}" for detail in finding.details]
    lines += [f"  in your line: {finding.line}"] if finding.line and not verdict.is_stub else []
    if verdict.mistake is not None:
        lines += [f"What this usually means: {verdict.mistake.says}"]
        lines += [f"Where to look: {verdict.mistake.hint}"]
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The verdict as one compact block of HTML with inline styles only."""
    colour = _GOOD if verdict.passed else _QUIET if verdict.is_stub else _BAD
    mark = "✓" if verdict.passed else "○" if verdict.is_stub else "✗"
    style = f"border-left: 4px solid {colour}; padding: 2px 0 2px 12px; line-height: 1.5;"
    title = f"<b style='color: {colour};'>{mark} {escape(verdict.exercise)}</b>: "
    body = "".join(_body(verdict))
    return f"<div style='{style}'><div>{title}{headline(verdict)}</div>{body}</div>"


def _body(verdict: Verdict) -> list[str]:
    failure = verdict.first_failure
    if failure is None or failure.finding is None:
        return []
    finding = failure.finding
    if verdict.is_stub:
        return [f"<div>{escape(finding.says)}</div>"]
    parts = [_case_list(verdict), _paragraph(f"{_opening(verdict)}{finding.says}")]
    parts += [_evidence(finding)]
    if verdict.mistake is not None:
        parts.append(_paragraph(verdict.mistake.says, "What this usually means:"))
        parts.append(_paragraph(verdict.mistake.hint, "Where to look:"))
    return parts


def _opening(verdict: Verdict) -> str:
    failure = verdict.first_failure
    if failure is None or len(verdict.results) == 1 or verdict.is_stub:
        return ""
    return f"Case “{failure.case.name}”: "


def _paragraph(text: str, label: str = "") -> str:
    strong = f"<b>{escape(label)}</b> " if label else ""
    return f"<div style='margin-top: 4px; max-width: 46em;'>{strong}{_code(text)}</div>"


def _code(text: str) -> str:
    """Escape, and set what stands between backticks as code."""
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
    listing = "<br>".join(escape(line) for line in lines)
    style = "font-family: monospace; font-size: 90%; margin-top: 4px;"
    pictures = "" if finding.pictures is None else _pictures(*finding.pictures)
    return (f"<div style='{style}'>{listing}</div>" if listing else "") + pictures


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
    """A small table of coloured cells: unlike SVG, it survives every sanitizer."""
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
    """White to dark blue, which all readers can tell apart; orange marks what is not a number."""
    if not np.isfinite(value):
        return "rgb(230, 120, 0)"
    share = (value - low) / (high - low) if high > low else 0.5
    light, dark = np.array([247, 251, 255]), np.array([8, 48, 107])
    red, green, blue = (light + share * (dark - light)).astype(int)
    return f"rgb({red}, {green}, {blue})"

"""Feedback pages: verdicts and hints, never the hidden tests (nbgrader's issue 917)."""

import re
from collections.abc import Collection
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from grader.authoring.regions import HIDDEN, regions, without_hidden

REMOVED = "[not shown: part of the hidden tests]"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
MIN_LENGTH = 9  # shorter lines, such as `)` or `hidden=[`, say nothing about a test


class StripHiddenTests(NbGraderPreprocessor):
    """Remove hidden tests from the source of test cells and from all outputs."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Strip a graded notebook in place."""
        tests = [cell for cell in nb.cells if cell.cell_type == "code" and is_grade(cell)]
        hidden = {line for cell in tests for line in hidden_lines(cell.source)}
        for cell in tests:
            cell.source = without_hidden(cell.source)
            _shorten_errors(cell)
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                _strip(output, hidden)
        return nb, resources


def hidden_lines(source: str) -> set[str]:
    """Return the lines of the hidden regions that reveal something.

    A line does not if it is short, is the exercise's name, or stands in the visible part as well.
    """
    lines, shown = source.split("\n"), without_hidden(source)
    inside = [line.strip() for start, end in regions(source, HIDDEN) for line in lines[start:end]]
    return {
        line
        for line in inside
        if len(line) >= MIN_LENGTH and not line.rstrip(",").isidentifier() and line not in shown
    }


def _shorten_errors(cell: Any) -> None:
    """Keep the error but not its traceback, which quotes lines around it, hidden ones too."""
    for output in cell.outputs:
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]


def _strip(output: Any, hidden: set[str]) -> None:
    """Replace hidden lines in an output's texts."""
    if "text" in output:
        output.text = without_lines(output.text, hidden)
    if "traceback" in output:
        output.traceback = [without_lines(text, hidden) for text in output.traceback]
    data = output.get("data", {})
    for mime in [mime for mime in data if mime.startswith("text/")]:
        data[mime] = without_lines(data[mime], hidden)


def without_lines(text: str, hidden: Collection[str]) -> str:
    """Return a text without the lines that hold one of the hidden ones."""
    plain = ANSI.sub("", text)
    if not any(line in plain for line in hidden):
        return text
    kept = [
        REMOVED if any(secret in ANSI.sub("", line) for secret in hidden) else line
        for line in text.split("\n")
    ]
    return "\n".join(kept)

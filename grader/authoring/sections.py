"""Split a lesson's text where a reader needs a cell of its own: at headings and around hints.

A check's result appears above the cell that follows it. If that cell held the hints, the next
section and the next exercise, the result would be out of sight as soon as a student goes on.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
OPENED, CLOSED = re.compile(r"<details\b"), re.compile(r"</details>")


def parts(text: str) -> list[tuple[int, str]]:
    """Return a text's parts, each with the number of its first line, counted from 0.

    A part begins at a heading, at the first of several folds in a row, and after their last one.
    What a fold or a fenced block holds stays together.
    """
    lines = text.split("\n")
    starts = [0, *_starts(lines), len(lines)]
    found = [(a, "\n".join(lines[a:b])) for a, b in pairwise(starts)]
    return [(at, part.strip("\n")) for at, part in found if part.strip()] or [(0, text)]


def _starts(lines: list[str]) -> Iterator[int]:
    """Yield the numbers of the lines at which a part begins, the first one aside."""
    depth, fence, is_fold = 0, "", False
    for number, line in enumerate(lines):
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        begins_fold = not depth and OPENED.match(line.lstrip()) is not None
        if line.strip() and not depth:
            if number and (HEADING.match(line) or begins_fold != is_fold):
                yield number
            is_fold = begins_fold
        fence = mark[1] if mark else ""
        depth = max(0, depth + len(OPENED.findall(line)) - len(CLOSED.findall(line)))

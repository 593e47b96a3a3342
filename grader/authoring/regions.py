"""Marked regions of a cell: the solution (stubbed in the release) and the hidden tests (removed).

Markers are found as substrings of a line, as nbgrader finds them.
"""

import re

SOLUTION = ("BEGIN SOLUTION", "END SOLUTION")
HIDDEN = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
STUB = "# STUB"


class RegionError(ValueError):
    """A malformed region; `offset` is the line in the cell's source, counted from 0."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def regions(source: str, markers: tuple[str, str]) -> list[tuple[int, int]]:
    """Return (line of BEGIN, line of END) of every region, counted from 0, or raise RegionError."""
    begin, end = markers
    found: list[tuple[int, int]] = []
    start: int | None = None
    for number, line in enumerate(source.split("\n")):
        if begin in line:
            if start is not None:
                raise RegionError(number, f"`{begin}` inside a region that is still open")
            start = number
        elif end in line:
            if start is None:
                raise RegionError(number, f"`{end}` without a `{begin}` before it")
            found.append((start, number))
            start = None
    if start is not None:
        raise RegionError(start, f"`{begin}` without a `{end}` after it")
    return found


def stubbed(source: str, exercise: str) -> str:
    """Return an exercise cell as students get it: each solution region replaced with its stub."""
    lines = source.split("\n")
    for start, end in reversed(regions(source, SOLUTION)):
        lines[start : end + 1] = _stub(lines, start, end, exercise)
    return "\n".join(lines)


def without_hidden(source: str) -> str:
    """Return a test cell without its hidden regions."""
    lines = source.split("\n")
    for start, end in reversed(regions(source, HIDDEN)):
        del lines[start : end + 1]
    return "\n".join(lines)


def _stub(lines: list[str], start: int, end: int, exercise: str) -> list[str]:
    """Return what the release shows instead of the region from line start to line end."""
    for number in range(start + 1, end):
        if lines[number].strip() == STUB:
            return [_uncommented(lines[n], n) for n in range(number + 1, end)]
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    return [f'{indent}raise NotImplementedError("{exercise} is not written yet")']


def _uncommented(line: str, number: int) -> str:
    """Take one `# ` off a comment line, keeping its indentation."""
    match = re.fullmatch(r"(?P<indent>\s*)(?:# ?(?P<rest>.*))?", line)
    if match is None:
        raise RegionError(number, f"a line after `{STUB}` is not a comment; begin it with `# `")
    return (match["indent"] + (match["rest"] or "")).rstrip()

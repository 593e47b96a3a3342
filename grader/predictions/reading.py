"""Read a file of predictions: whatever it holds, the result is tags or a list of faults."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grader.regular_file import read_plain
from utils.text_files import as_text

MOST_HANDED_IN: Final = 8 << 20
MOST_FAULTS: Final = 10  # that are named; the rest are counted


class Faulty(Exception):
    """A file that cannot be scored.

    Attributes:
        faults: one sentence each, with the line if there is one.

    """

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def read_predictions(path: Path, sizes: Sequence[int]) -> list[list[str]]:
    """Read the tags of every sentence, one sentence per line.

    Args:
        path: predictions.txt, as submitted.
        sizes: how many words each test sentence has.

    Raises:
        Faulty: it is not such a file, or has too few or too many lines or tags.
        Unreadable: this machine or its rights are in the way, which is not the student's fault.

    """
    lines = _text(path).removesuffix("\n").split("\n")
    tagged = [line.split() for line in lines[: len(sizes)]]  # there may be millions
    faults = list(_faults(len(lines), tagged, sizes))
    if faults:
        more = len(faults) - MOST_FAULTS
        raise Faulty(*faults[:MOST_FAULTS], *([f"and {more} more"] if more > 0 else []))
    return tagged


def _faults(n_lines: int, tagged: Sequence[Sequence[str]], sizes: Sequence[int]) -> Iterator[str]:
    if n_lines != len(sizes):
        yield f"{n_lines} lines, and there are {len(sizes)} test sentences"
    for number, (tags, size) in enumerate(zip(tagged, sizes, strict=False), 1):
        if len(tags) != size:
            yield f"line {number}: {len(tags)} tags, and the sentence has {size} words"


def _text(path: Path) -> str:
    data = read_plain(path, MOST_HANDED_IN + 1)
    if data is None:
        raise Faulty("it is no plain file")
    if len(data) > MOST_HANDED_IN:
        raise Faulty(f"it is larger than {MOST_HANDED_IN >> 20} MiB")
    try:
        return as_text(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Faulty(f"line {line}: not UTF-8 text") from None

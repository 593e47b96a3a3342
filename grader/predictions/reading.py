"""Read a file of predictions: whatever it holds, the answer is tags or a list of faults."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grader.plain_file import read_plain

MOST_BYTES: Final = 8 << 20
MOST_FAULTS: Final = 10  # told; the rest is counted


class Faulty(Exception):
    """The file cannot be scored.

    Attributes:
        faults: one sentence each, with the line where there is one.

    """

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def read_predictions(path: Path, sizes: Sequence[int]) -> list[list[str]]:
    """Read the tags of every sentence, one sentence a line.

    Args:
        path: predictions.txt, as submitted.
        sizes: how many words each test sentence has.

    Raises:
        Faulty: it is no such file, or lines or tags are missing or too many.

    """
    tagged = [line.split() for line in _text(path).removesuffix("\n").split("\n")]
    faults = list(_faults(tagged, sizes))
    if faults:
        more = len(faults) - MOST_FAULTS
        raise Faulty(*faults[:MOST_FAULTS], *([f"and {more} more"] if more > 0 else []))
    return tagged


def _faults(tagged: Sequence[Sequence[str]], sizes: Sequence[int]) -> Iterator[str]:
    if len(tagged) != len(sizes):
        yield f"{len(tagged)} lines, and there are {len(sizes)} test sentences"
    for number, (tags, size) in enumerate(zip(tagged, sizes, strict=False), 1):
        if len(tags) != size:
            yield f"line {number}: {len(tags)} tags, and the sentence has {size} words"


def _text(path: Path) -> str:
    data = read_plain(path, MOST_BYTES + 1)
    if data is None:
        raise Faulty("it is no plain file that can be read")
    if len(data) > MOST_BYTES:
        raise Faulty(f"it is larger than {MOST_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Faulty(f"line {line}: not UTF-8 text") from None

"""The right source of each exercise, which the build copies from the lesson's text.

A learner has no solutions beside it, so the file lies with the lesson's checks, packed: so a search
through the course's files shows no answer by chance.
"""

import base64
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

FILE: Final = "solutions.packed"
CELL: Final = re.compile(r'^# %% exercise="(\w+)"\n', re.MULTILINE)
REGION: Final = re.compile(r"# BEGIN +SOLUTION\n(.*?)^ *# END +SOLUTION", re.MULTILINE | re.DOTALL)
# What a patch may use, whatever the lesson imports.
USUAL: Final = """\
import math
import torch
from torch import Tensor, nn
from torch.nn import functional as F
"""


@dataclass(frozen=True)
class Source:
    """The right answer to an exercise, as text.

    Attributes:
        exercise: the exercise's id, which the text defines.
        text: of the cell, its solution regions marked.
        imports: those of the lesson, as text.
        file: where it lies.

    """

    exercise: str
    text: str
    imports: str
    file: Path

    def places(self, old: str) -> list[int]:
        """Return where a text stands in the solution regions: its places in the cell."""
        return [
            start + found.start()
            for start, end in self._regions
            for found in re.finditer(re.escape(old), self.text[start:end])
        ]

    def uses(self, name: str) -> list[tuple[int, int]]:
        """Return where a name stands in the solution regions: where it begins and ends."""
        return [
            (start + found.start(), start + found.end())
            for start, end in self._regions
            for found in re.finditer(rf"\b{name}\b", self.text[start:end])
        ]

    @cached_property
    def _regions(self) -> tuple[tuple[int, int], ...]:
        return tuple(found.span(1) for found in REGION.finditer(self.text))

    def defined(self, text: str, names: Mapping[str, Any]) -> Any:
        """Run a form of the cell and return what it defines.

        Args:
            text: the cell's text, or what patches made of it.
            names: what stands in the place of earlier exercises.

        """
        namespace: dict[str, Any] = {}
        exec(USUAL + self.imports, namespace)
        namespace |= names
        exec(compile(text, str(self.file), "exec"), namespace)
        return namespace[self.exercise]


@cache
def sources_in(folder: Path) -> Mapping[str, Source]:
    """Return the right sources of a lesson by exercise; none if nothing has been built there."""
    file = folder / FILE
    if not file.is_file():
        return {}
    imports, *cells = CELL.split(unpacked(file.read_text(encoding="utf-8")))
    return {name: Source(name, text, imports, file) for name, text in _pairs(cells)}


def _pairs(parts: list[str]) -> Iterator[tuple[str, str]]:
    return zip(parts[0::2], parts[1::2], strict=True)


def packed(text: str) -> str:
    """Return a lesson's right sources as its file holds them."""
    return base64.encodebytes(zlib.compress(text.encode())).decode()


def unpacked(content: str) -> str:
    """Return the right sources in a file; empty where it holds none."""
    try:
        return zlib.decompress(base64.b64decode(content)).decode()
    except (ValueError, zlib.error):
        return ""

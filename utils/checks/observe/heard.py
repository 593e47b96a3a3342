"""What an answer prints, and what it is warned of, while it is checked.

A check calls an answer dozens of times, and most calls are about known mistakes. So nothing is
shown as it comes: a student reads a few lines of it after the verdict, and of warnings only those
that come from a line of theirs.
"""

import contextlib
import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from utils.checks.observe.students_line import line_now
from utils.checks.verdict import Note
from utils.words import counted

_MOST_LINES = 3
_MOST_LETTERS = 100_000  # an answer may print for ever
_MOST_WARNINGS = 2
_LONGEST_WARNING = 140  # letters
_OF_TORCH = re.compile(r"\s*\(Triggered internally at .*?\)$")  # a path in torch's own sources


class _Print(io.StringIO):
    """A text that stops growing.

    Attributes:
        lines: how many lines were written, kept or not.

    """

    def __init__(self) -> None:
        super().__init__()
        self.lines, self._is_open = 0, False

    def write(self, text: str) -> int:
        """Count a text's lines, and keep it as long as there is room."""
        if text:
            self.lines += text.count("\n") + (not text.endswith("\n")) - self._is_open
            self._is_open = not text.endswith("\n")
        return super().write(text) if self.tell() < _MOST_LETTERS else len(text)


@dataclass
class Heard:
    """What was printed and warned of.

    Attributes:
        printed: all that was printed.
        warned: warning -> the student's line that it comes from.

    """

    printed: _Print = field(default_factory=_Print)
    warned: dict[str, str] = field(default_factory=dict)

    def note_warning(
        self, message: Warning | str, category: type[Warning], *_where: Any, **_file: Any
    ) -> None:
        """Note a warning, if it comes from a line of the student's; for ``showwarning``."""
        line = line_now()
        if line:
            words = _OF_TORCH.sub("", " ".join(str(message).split()))
            self.warned.setdefault(f"{category.__name__}: {_shortened(words)}", line)

    def notes(self) -> tuple[Note, ...]:
        """Return what a student reads after the verdict."""
        found = [
            Note(f"Python warns. {words}", (f"in your line: {line}",))
            for words, line in list(self.warned.items())[:_MOST_WARNINGS]
        ]
        lines = self.printed.getvalue().splitlines()
        if lines:
            called = f"Your code printed {counted(self.printed.lines, 'line')}"
            more = ", all calls together; the first are" if len(lines) > _MOST_LINES else ""
            found.append(Note(f"{called}{more}:", tuple(lines[:_MOST_LINES])))
        return tuple(found)


def _shortened(words: str) -> str:
    """Return a warning's first sentence: torch goes on for longer than a diagnosis."""
    first = re.split(r"(?<=[.!?]) ", words, maxsplit=1)[0]
    return textwrap.shorten(first, _LONGEST_WARNING, placeholder=" ...")


@contextlib.contextmanager
def listening() -> Iterator[Heard]:
    """Collect what is printed and warned of."""
    heard = Heard()
    with (
        contextlib.redirect_stdout(heard.printed),
        contextlib.redirect_stderr(heard.printed),
        warnings.catch_warnings(),
    ):
        warnings.showwarning = heard.note_warning
        yield heard


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Discard prints and warnings: in grading they must cost nothing and hide nothing."""
    with listening():
        warnings.simplefilter("ignore")
        yield

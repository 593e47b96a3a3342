"""Read a table that a person made: in a spreadsheet, an editor, or by a learning system's export.

Spreadsheets write commas, semicolons or tabs by the country that they are set to, and say so in a
first line ``sep=;`` or not at all. Titles are the same in capitals, with spaces, dashes or
underscores.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.errors import CourseError, UsageError
from utils.text_files import read_text

SAVE: Final = "Save it as CSV in UTF-8, then run the same command."
DELIMITERS: Final = ",;\t"
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')
_SAYS_DELIMITER: Final = re.compile(r'"?sep=([^"\w ])"?[\s,;]*', re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)?")


@dataclass(frozen=True)
class Line:
    """A line of a table: the number of its line in the file, and a cell for each title."""

    number: int
    cells: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; no text of it has space at its ends, and empty lines are left out.

    Attributes:
        titles: of the columns, as they stand in the file.
        lines: all others.

    """

    titles: Sequence[str]
    lines: Sequence[Line]

    def entries(self, columns: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield each line's number, and field -> its cell.

        Args:
            columns: field -> what its column may be called, as `plain_title` writes it.

        """
        places = self.places(columns)
        for line in self.lines:
            yield line.number, {field: line.cells[place] for field, place in places.items()}

    def places(self, columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return field -> the place of its column, for those that are there."""
        titles = [plain_title(title) for title in self.titles]
        found = {
            field: [titles.index(name) for name in names if name in titles]
            for field, names in columns.items()
        }
        return {field: places[0] for field, places in found.items() if places}


def read_table(path: Path) -> Table:
    """Read a table whose first line has the columns' titles.

    Raises:
        UsageError: it is not there.
        CourseError: it is empty, no table, or has lines with more cells than titles.

    """
    try:
        found = list(_lines(read_text(path)))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}). Check its name, then run the same command."
        ) from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not UTF-8 text. {SAVE}") from None
    except csv.Error as error:
        raise CourseError(f"{path} is no table ({error}). {SAVE}") from None
    if not found:
        raise CourseError(f"{path} is empty: it needs a line of column names.")
    head, *lines = found
    n_titles = len(head.cells)
    if wide := [line.number for line in lines if any(line.cells[n_titles:])]:
        raise CourseError(
            f"{path}, line {wide[0]} has more cells than the {n_titles} columns that the first "
            "line names. Put a text that holds a comma in quotes, then run the same command."
        )
    blank = [""] * n_titles
    return Table(head.cells, [Line(x.number, [*x.cells, *blank][:n_titles]) for x in lines])


def _lines(text: str) -> Iterator[Line]:
    """Yield the lines that hold anything, the titles first."""
    first, _, rest = text.partition("\n")
    said = _SAYS_DELIMITER.fullmatch(first)
    delimiter = said[1] if said else _delimiter(text)
    reader = csv.reader(
        io.StringIO(rest if said else text), delimiter=delimiter, skipinitialspace=True
    )
    before = 1 if said else 0
    number = before + 1
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield Line(number, cells)
        number = before + reader.line_num + 1


def _delimiter(text: str) -> str:
    """Return what the titles are divided by; a title in quotes may hold any of them."""
    head = _QUOTED.sub("", text).lstrip("\n ").partition("\n")[0]
    return max(DELIMITERS, key=head.count)


def plain_title(title: str) -> str:
    """Return a title in small letters with single spaces, whatever stands between its words."""
    seen = "".join(c for c in title.casefold() if unicodedata.category(c) != "Cf")
    return " ".join(re.split(r"[\s_-]+", seen.strip()))


def as_number(text: str) -> float | None:
    """Return the number that a cell holds, with a point or a comma before its decimals; or None."""
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text.strip()) else None

"""Unpack a learning system's download: only plain files of sane names and sizes come out.

Files get names of our own; what an entry is called is data. A bad entry is refused with a sentence,
and the others go on.
"""

import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from grader.course.hand_in_files import MOST_BYTES
from grader.errors import CourseError
from grader.lms.leftovers import Left

MOST_ENTRIES: Final = 20_000
MOST_TOTAL: Final = 4 << 30
MOST_RATIO: Final = 200  # of a file's size to its packed size, where it is large
LARGE: Final = 1 << 20
LONGEST: Final = 255  # bytes of one part of a name, as on most file systems
REVERSING: Final = "\u202d\u202e"  # other marks of direction come with names that are copied
LEFTOVERS: Final = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")
ARCHIVES: Final = (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"BZh", b"\xfd7zXZ")
# Other ways take what memory the entry asks for, and each raises errors of its own.
PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What reading an entry may raise; ValueError: its name is said to be UTF-8, and is not.
DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError
)  # fmt: skip
UT: Final = 0x5455  # the extra field with the time in seconds since 1970, in UTC
CHUNK: Final = 1 << 16


@dataclass(frozen=True)
class Unpacked:
    """A file of the download.

    Attributes:
        entry: its path in the download, with slashes.
        path: where its content is now.
        time: when it was changed, as the archive says; if it does not, when that was written.

    """

    entry: str
    path: Path
    time: datetime


def unpack(archive: Path, into: Path, most: int = MOST_TOTAL) -> tuple[list[Unpacked], list[Left]]:
    """Unpack a ZIP file's entries into a folder, each under a number, up to so many bytes.

    Returns:
        The files, and the entries that were not unpacked.

    Raises:
        CourseError: it is missing, not a ZIP file, or holds too much altogether.

    """
    try:
        written = datetime.fromtimestamp(archive.stat().st_mtime, UTC).replace(microsecond=0)
        with zipfile.ZipFile(archive) as opened:
            return _unpacked(opened, into, written, most)
    except FileNotFoundError:
        raise CourseError(
            f"There is no file {archive}. Give the ZIP file of all hand-ins, as the learning "
            "system lets you download it."
        ) from None
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise CourseError(  # ValueError: a name that is said to be UTF-8, and is not
            f"{archive} cannot be read as a ZIP file ({error}). Download it again; nothing was "
            "collected."
        ) from None


def _unpacked(
    opened: zipfile.ZipFile, into: Path, written: datetime, left: int
) -> tuple[list[Unpacked], list[Left]]:
    named = [(entry, entry_name(entry)) for entry in opened.infolist()]
    entries = [(entry, name) for entry, name in named if not _is_passed_over(name)]
    if len(entries) > MOST_ENTRIES:
        raise CourseError(
            f"The download has {len(entries):,} files, more than {MOST_ENTRIES:,}: is it the right "
            "one? Nothing was collected."
        )
    files: list[Unpacked] = []
    refused: list[Left] = []
    seen: set[str] = set()
    for number, (entry, name) in enumerate(entries):
        path = into / f"{number:06d}"
        if reason := _fault(entry, name, seen, left) or _extract(opened, entry, path):
            refused.append(Left(name, reason))
            continue
        left -= entry.file_size
        seen.add(name.casefold())
        files.append(Unpacked(name, path, _time(entry, written)))
    return files, refused


def _is_passed_over(name: str) -> bool:
    """Return whether an entry is a folder or what programs leave in archives."""
    parts = name.split("/")
    is_folder = parts[-1] == "" and len(parts) > 1
    return is_folder or parts[-1].startswith("._") or bool(set(LEFTOVERS) & set(parts))


def entry_name(entry: zipfile.ZipInfo) -> str:
    """Return an entry's name as it is meant: old programs write UTF-8 without saying so.

    PowerShell divides folders as Windows does. Whose a file is never depends on it: `claims`.
    """
    name = entry.orig_filename
    if not entry.flag_bits & 0x800:
        with suppress(UnicodeError):  # then it was cp437 indeed, or nobody knows
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name.replace("\\", "/"))


def _fault(entry: zipfile.ZipInfo, name: str, seen: Collection[str], left: int) -> str:
    """Return why an entry is no plain file under a plain name of its own; "" if it is."""
    parts, mode, size = PurePosixPath(name).parts, entry.external_attr >> 16, entry.file_size
    is_odd = any(c in REVERSING or unicodedata.category(c) == "Cc" for c in name)
    is_long = any(len(part.encode()) > LONGEST for part in parts)
    is_bomb = size > LARGE and size > MOST_RATIO * max(1, entry.compress_size)
    faults = (
        (name.startswith("/") or name[1:2] == ":", "its path begins at the root of a disk"),
        (".." in parts, "its path leads out of the download (..)"),
        (is_odd, "its name has control characters"),
        (is_long or not parts, f"its name is empty or longer than {LONGEST} bytes"),
        (stat.S_ISLNK(mode), "it is a link, not a file"),
        (stat.S_IFMT(mode) not in (0, stat.S_IFREG), "it is not a plain file"),
        (entry.flag_bits & 0x1, "it is locked with a password"),
        (
            entry.compress_type not in PACKED,
            "it is packed in a way that learning systems do not use",
        ),
        (size > MOST_BYTES, f"it is {size >> 20} MiB large, more than {MOST_BYTES >> 20} MiB"),
        (is_bomb, f"it unpacks to more than {MOST_RATIO} times its packed size"),
        (size > left, "all files together are larger than grading takes"),
        (name.casefold() in seen, "another file in the download has the same name"),
    )
    return next((reason for holds, reason in faults if holds), "")


def _extract(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> str:
    """Write an entry's content; return why that cannot be done, or "".

    No more is read than the archive says; if it says too little, the checksum is wrong.
    """
    try:
        with opened.open(entry) as source, path.open("xb") as target:
            shutil.copyfileobj(source, target, CHUNK)
    except DAMAGED as error:
        path.unlink(missing_ok=True)
        return f"its content is damaged ({error})"
    return ""


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive, whatever it is called."""
    with path.open("rb") as file:
        return file.read(8).startswith(ARCHIVES)


def _time(entry: zipfile.ZipInfo, otherwise: datetime) -> datetime:
    """Return when an entry was changed: in UTC if the archive has that, else by this clock.

    An archive without dates (1980) gives the time that is handed in.
    """
    seconds = _seconds(entry.extra)
    try:
        if seconds is not None:
            return datetime.fromtimestamp(seconds, UTC)
        return (
            datetime(*entry.date_time).astimezone(UTC) if entry.date_time[0] > 1980 else otherwise
        )
    except (ValueError, OverflowError, OSError):
        return otherwise


def _seconds(extra: bytes) -> int | None:
    """Return the time that the extra field UT holds."""
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        content, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == UT and len(content) >= 5 and content[0] & 1:
            return int(struct.unpack("<i", content[1:5])[0])
    return None

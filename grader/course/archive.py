"""A class's whole record in one file, for the time after the semester.

It holds what was handed in, graded and handed back, the gradebook, and what judged: the lessons'
texts, the settings and the class's secret. A list of every file's digest lies in it.
"""

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from grader.course import backups, private, secret
from grader.course.course import GradingCourse
from grader.errors import CourseError

CONTENTS: Final = "contents.json"  # path -> SHA-256 of every other file in the archive
TAKEN: Final = tuple(n for n in private.FOLDERS if n not in (private.ARCHIVE, backups.FOLDER))
UNFINISHED: Final = ".new-"  # how the name of an archive begins that is not whole yet
FILES: Final = (secret.FILE, "course.toml", "nbgrader_config.py", "solutions/*.py", "*.csv")
LEFT_OUT: Final = ("hub-passwords.csv",)  # in the clear, and of use to nobody after the semester


@dataclass(frozen=True)
class Archived:
    """What an archive holds.

    Attributes:
        path: of the archive.
        counts: folder -> how many files of it; files at the top are below "".
        links: paths of links, which are not followed and not kept.
        has_gradebook: False if there is none yet.

    """

    path: Path
    counts: Mapping[str, int]
    links: tuple[str, ...]
    has_gradebook: bool


def archive(course: GradingCourse, name: str) -> Archived:
    """Write archive/<name>.tar.gz, for the owner alone, and read it back before it counts.

    Raises:
        CourseError: nothing was handed in yet, or the archive cannot be written or read back.

    """
    if not course.submitted():
        raise CourseError(
            "Nothing was handed in yet, so there is nothing to archive. An archive is made when a "
            "semester ends, after make grade."
        )
    home = private.private_folder(course.folder / private.ARCHIVE)
    private.keep_private(course.folder)
    for half in home.glob(f"{UNFINISHED}*"):  # of a run that was killed; it may be large
        half.unlink()
    gradebook = backups.back_up(course.db_url, course.folder)
    files = {str(p.relative_to(course.folder)): p for p in _files(course.folder)}
    links = sorted(name for name, path in files.items() if path.is_symlink())
    plain = {name: path for name, path in files.items() if name not in links}
    if gradebook is not None:
        plain["gradebook.db"] = gradebook
    target = home / f"{name}.tar.gz"
    handle, temporary = tempfile.mkstemp(dir=home, prefix=UNFINISHED)  # readable by its owner alone
    try:
        with os.fdopen(handle, "wb") as stream:
            digests = _write(stream, name, plain)
        _verify(Path(temporary), name, digests)
        Path(temporary).replace(target)
    finally:
        Path(temporary).unlink(missing_ok=True)
    return Archived(target, _counts(plain), tuple(links), gradebook is not None)


def _files(folder: Path) -> Iterator[Path]:
    """Yield what is kept, in order; links too, so that they can be told."""
    for name in TAKEN:
        for path in sorted((folder / name).rglob("*")):
            if path.is_symlink() or path.is_file():
                yield path
    for pattern in FILES:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        yield from (path for path in found if path.name not in LEFT_OUT)


def _counts(plain: Mapping[str, Path]) -> dict[str, int]:
    tops = [name.partition("/")[0] if "/" in name else "" for name in plain]
    return {top: tops.count(top) for top in sorted(set(tops))}


def _write(stream: IO[bytes], name: str, files: Mapping[str, Path]) -> dict[str, str]:
    """Write the files and the list of their digests; return the list."""
    digests = {}
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for inside, path in files.items():
            data = path.read_bytes()
            digests[inside] = hashlib.sha256(data).hexdigest()
            _add(tar, f"{name}/{inside}", data, path.stat().st_mtime)
        contents = json.dumps(digests, indent=1, ensure_ascii=True).encode()
        _add(tar, f"{name}/{CONTENTS}", contents, max(p.stat().st_mtime for p in files.values()))
    return digests


def _add(tar: tarfile.TarFile, name: str, data: bytes, modified: float) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), 0o600, int(modified)
    tar.addfile(entry, io.BytesIO(data))


def _verify(path: Path, name: str, digests: Mapping[str, str]) -> None:
    """Raise CourseError if what is read back is not what was written."""
    try:
        found = dict(_read(path, name))
    except (OSError, EOFError, tarfile.TarError) as error:
        raise CourseError(f"The archive cannot be read back ({error}). {_AGAIN}") from None
    found.pop(CONTENTS, None)
    if found != digests:
        raise CourseError(f"The archive is not what was written. {_AGAIN}")


_AGAIN: Final = "Check the disk, then run the same command; nothing else was changed."


def _read(path: Path, name: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(path, "r:gz") as tar:
        for entry in tar:
            content = tar.extractfile(entry)
            assert content is not None  # only plain files are written
            yield entry.name.removeprefix(f"{name}/"), hashlib.sha256(content.read()).hexdigest()

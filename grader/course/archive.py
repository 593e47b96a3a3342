"""A class's whole record in one file, for the time after the semester.

It holds what was handed in, graded and handed back, the gradebook, and what judged: the lessons'
texts, the settings and the class's secret. A list of every file's digest lies in it. Of a hand-in
it holds what grading reads, whoever filled the folder: one that is odd stops no archive.
"""

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, NamedTuple

from grader.authoring import own_mistakes
from grader.course import private, secret
from grader.course.course import GradingCourse
from grader.course.hand_in_files import BESIDE, MOST_BYTES, NOT_READ, LeftOut, fault
from grader.course.safe_text import line
from grader.errors import CourseError
from grader.gradebook import backups
from grader.notebook_file import may_be_meant, notebook_in
from grader.regular_file import Unreadable, copy_plain

CONTENTS: Final = "contents.json"  # path -> SHA-256 of every other file in the archive
TAKEN: Final = tuple(n for n in private.FOLDERS if n not in (private.ARCHIVE, backups.FOLDER))
UNFINISHED: Final = ".new-"  # how the name of an archive begins that is not whole yet
FILES: Final = (
    secret.FILE, "course.toml", own_mistakes.FILE, "nbgrader_config.py", "solutions/*.py", "*.csv"
)  # fmt: skip
# Folders of hand-ins -> how many levels of folders below lead to one.
HAND_INS: Final = {Path("submitted"): 2, Path("lms", "replaced"): 3}
LEFT_OUT: Final = ("hub-passwords.csv",)  # in the clear, and of use to nobody after the semester


@dataclass
class Archived:
    """What an archive holds.

    Attributes:
        path: of the archive.
        has_gradebook: False if there is none yet.
        counts: folder -> how many files of it; files at the top are below "".
        links: paths of links, which are not followed and not kept.
        left_out: what is not kept of hand-ins, for collecting would leave it out, too.
        is_whole: False if some of that is left out because it cannot be read.

    """

    path: Path
    has_gradebook: bool
    counts: dict[str, int] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    is_whole: bool = True

    def note_unreadable(self, path: Path, owner: str, error: Unreadable) -> None:
        """Note what is left out of a hand-in because it cannot be read."""
        self.is_whole = False
        reason = f"it cannot be read ({error.strerror}). {error.helps}, then run the same command"
        self.left_out.append(LeftOut(line(str(path)), reason, owner))


class _Entry(NamedTuple):
    """A file on its way into the archive: its name there, where it is, when it was changed."""

    inside: str
    path: Path
    modified: float


def archive(course: GradingCourse, name: str) -> Archived:
    """Write archive/<name>.tar.gz, for the owner alone, and read it back before it counts.

    Raises:
        CourseError: nothing was handed in yet, or the archive cannot be read back.
        OSError: it cannot be written, or a file that no student handed in cannot be read.

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
    made = Archived(home / f"{name}.tar.gz", gradebook is not None)
    handle, temporary = tempfile.mkstemp(dir=home, prefix=UNFINISHED)  # readable by its owner alone
    try:
        with (
            os.fdopen(handle, "wb") as stream,
            tempfile.NamedTemporaryFile(dir=home, prefix=UNFINISHED) as spare,
        ):
            entries = _entries(course.folder, gradebook, Path(spare.name), made)
            digests = _write(stream, name, entries)
        _verify(Path(temporary), name, digests)
        Path(temporary).replace(made.path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    tops = (inside.partition("/")[0] if "/" in inside else "" for inside in digests)
    made.counts = dict(sorted(Counter(tops).items()))
    made.links.sort()
    return made


def _entries(folder: Path, gradebook: Path | None, spare: Path, made: Archived) -> Iterator[_Entry]:
    """Yield what is kept, each file when it is to be written; what is not is noted."""
    for path in _files(folder):
        inside = str(path.relative_to(folder))
        if path.is_symlink():
            made.links.append(inside)
        else:
            yield _Entry(inside, path, path.stat().st_mtime)
    for home, levels in HAND_INS.items():
        if (folder / home).is_dir():
            yield from _hand_ins(folder, home, levels, spare, made)
    if gradebook is not None:
        yield _Entry("gradebook.db", gradebook, gradebook.stat().st_mtime)


def _files(folder: Path) -> Iterator[Path]:
    """Yield what is kept beside hand-ins; links too, so that they can be told."""
    taken = [folder / name for name in TAKEN if Path(name) not in HAND_INS]
    waiting = [path for path in reversed(taken) if path.is_dir()]
    while waiting:  # no function for each level: folders can be nested deeper than these
        inner = []
        for path in sorted(waiting.pop().iterdir()):
            if path.is_symlink() or path.is_file():
                yield path
            elif path.is_dir() and path.relative_to(folder) not in HAND_INS:
                inner.append(path)
        waiting += reversed(inner)
    for pattern in FILES:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        yield from (path for path in found if path.name not in LEFT_OUT)


def _hand_ins(
    folder: Path, home: Path, levels: int, spare: Path, made: Archived
) -> Iterator[_Entry]:
    """Yield what is kept of the hand-ins in a folder, and of what lies beside them.

    Args:
        folder: the course's.
        home: the folder below it.
        levels: how many levels of folders in it are looked into.
        spare: each file is copied here before: its disk may fail in the middle, or somebody cut it.
        made: notes what is not.

    """
    owner = _owner(home)
    try:
        with os.scandir(folder / home) as found:
            there = sorted(found, key=lambda entry: entry.name)
        links = [entry.name for entry in there if entry.is_symlink()]
        inner = [e.name for e in there if levels and e.is_dir(follow_symlinks=False)]
    except OSError as error:
        unread = Unreadable(error.errno, error.strerror, str(home))
        made.note_unreadable(home, owner, unread)
        return
    made.links += [str(home / name) for name in links]
    names = {entry.name for entry in there}.difference(links, inner)
    for path in (home / name for name in sorted(names)):
        try:
            reason = _reason(folder / path, names, spare)
        except Unreadable as error:
            made.note_unreadable(path, owner, error)
            continue
        if reason:
            made.left_out.append(LeftOut(line(str(path)), reason, owner))
        else:
            yield _Entry(str(path), spare, (folder / path).lstat().st_mtime)
    for name in inner:
        yield from _hand_ins(folder, home / name, levels - 1, spare, made)


def _reason(path: Path, names: Collection[str], spare: Path) -> str:
    """Copy a file of a hand-in if grading reads it, or would in its right place; else say why not.

    Raises:
        Unreadable: it cannot be read.

    """
    is_notebook = may_be_meant(path.name) or path.name == notebook_in(
        path.parent, names, path.parent.name
    )
    if not is_notebook and path.name not in BESIDE:
        return NOT_READ
    return fault(copy_plain(path, spare, MOST_BYTES))


def _owner(path: Path) -> str:
    """Return whose a folder of hand-ins is; "" above those of students."""
    for home, levels in HAND_INS.items():
        if path.is_relative_to(home):
            return "".join(path.relative_to(home).parts[levels - 2 : levels - 1])
    return ""


def _write(stream: IO[bytes], name: str, entries: Iterable[_Entry]) -> dict[str, str]:
    """Write the files and the list of their digests; return the list."""
    digests, newest = {}, 0.0
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for inside, path, modified in entries:
            with path.open("rb") as file:
                digests[inside] = _add(tar, f"{name}/{inside}", file, modified)
            newest = max(newest, modified)
        contents = json.dumps(digests, indent=1, ensure_ascii=True).encode()
        _add(tar, f"{name}/{CONTENTS}", io.BytesIO(contents), newest)
    return digests


def _add(tar: tarfile.TarFile, name: str, file: IO[bytes], modified: float) -> str:
    """Add a file, however large, and return its digest."""
    entry = tarfile.TarInfo(name)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    entry.size, entry.mode, entry.mtime = file.seek(0, os.SEEK_END), 0o600, int(modified)
    file.seek(0)
    tar.addfile(entry, file)
    return digest


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
            digest = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
            yield entry.name.removeprefix(f"{name}/"), digest

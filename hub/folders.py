"""The folders of a class's hub, and who may do what in them."""

import os
import shutil
import stat
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from grader.bundle.pack import NAME as BUNDLE
from grader.errors import CourseError
from hub.owner import as_owner, give
from hub.settings import FILE, HubSettings
from utils.lab.exchange import COURSE_ID
from utils.lab.settings import FILE as COURSE_FILE
from utils.lab.settings import SettingsError, read_settings
from utils.text_files import read_text

# Of the clone's environment: the clone itself, and the hub's proxy.
NOT_FOR_STUDENTS: Final = ("__editable__*", "transformer_encoder_course*", "proxy")
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
SHARED: Final = 0o1777  # nbgrader wants it writable; nobody removes what is another's
HAND_IN: Final = 0o3733  # the same, but nobody else sees names, and the graders' group is kept


def make_place(root: Path, settings: HubSettings) -> None:
    """Make the hub's folders, and say in the clone that work is handed in there.

    Raises:
        CourseError: `course.toml` says that it is handed in elsewhere, or the place, which was
            there before, is another's, or others cannot enter it, or can write there.

    """
    tell_course(root, settings.exchange)
    place = settings.place
    if not place.exists():
        place.mkdir(parents=True)
        place.chmod(0o755)  # whatever the umask
    found = place.stat()  # not ours to change
    if found.st_uid != os.geteuid() or found.st_mode & OTHERS_WRITE:
        raise CourseError(
            f"Others than the hub can put files into {place}. Write a place into {FILE} that is "
            "not there yet."
        )
    if not found.st_mode & stat.S_IXOTH:
        raise CourseError(
            f"Students cannot enter {place}. Run chmod o+x {place}, or write another place into "
            f"{FILE}."
        )
    settings.state.mkdir(mode=0o700, exist_ok=True)
    course = settings.exchange / COURSE_ID
    for folder, mode in (
        (settings.exchange, SHARED),
        (course, 0o755),
        (course / "inbound", HAND_IN),
    ):
        folder.mkdir(exist_ok=True)
        give(folder, root)
        folder.chmod(mode)  # after giving, which takes the group's bit away


def tell_course(root: Path, exchange: Path) -> None:
    """Name the exchange in the clone's `course.toml`, unless it names it.

    Raises:
        CourseError: it names another way to hand in, or cannot be read.

    """
    file, line = root / COURSE_FILE, f'submit = "{exchange}"'
    try:
        known = read_settings(root)
    except SettingsError as error:
        raise CourseError(str(error)) from None
    if known.shared == exchange:
        return
    if other := known.shared or known.upload:
        raise CourseError(
            f"{file} says that students hand in at {other}, the hub's exchange is {exchange}. "
            f"Write {line} there, or another place into {FILE}."
        )
    before = read_text(file) if file.exists() else ""
    file.write_text(f"{line}\n{before}", encoding="utf-8")
    give(file, root)


def serve(root: Path, settings: HubSettings) -> None:
    """Release what is new, and replace the students' copy by what was last committed.

    Raises:
        CourseError: the owner's own `make bundle` fails.

    """
    as_owner(root, "-m", "grader", "bundle")
    with tempfile.TemporaryDirectory(dir=settings.place) as temporary:
        with zipfile.ZipFile(root / "dist" / f"{BUNDLE}.zip") as bundle:
            bundle.extractall(temporary)
        fresh = Path(temporary, BUNDLE)
        for path in (fresh, *fresh.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        if settings.served.exists():
            settings.served.rename(Path(temporary, "before"))
        fresh.rename(settings.served)


def make_environment(root: Path, settings: HubSettings) -> None:
    """Give students' servers a copy of the clone's environment, unless it is the same still.

    Programs name the clone's Python in their first line, so of these it has Python alone.
    """
    ours, theirs = root / ".venv", settings.environment
    if theirs.exists() and _set_up(ours) == _set_up(theirs):
        return
    with tempfile.TemporaryDirectory(dir=settings.place) as temporary:
        fresh = Path(temporary, theirs.name)
        ignored = shutil.ignore_patterns(*NOT_FOR_STUDENTS)
        shutil.copytree(ours, fresh, symlinks=True, ignore=ignored)
        for program in (fresh / "bin").iterdir():
            if not program.name.startswith("python"):
                program.unlink()
        # Whoever set the clone up may have done it for their own eyes.
        subprocess.run(["chmod", "-R", "a+rX,go-w", fresh], check=True)
        if theirs.exists():
            theirs.rename(Path(temporary, "before"))
        fresh.rename(theirs)


def _set_up(environment: Path) -> list[tuple[str, bytes]]:
    """Return what setup.sh noted in an environment: the versions that are installed."""
    return [(path.name, path.read_bytes()) for path in sorted(environment.glob("set-up-*"))]

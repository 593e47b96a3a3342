"""The folders of a class's hub, and who may do what in them."""

import stat
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

OPEN: Final = ".venv"  # of the clone, what students' servers need
OTHERS: Final = stat.S_IRWXO
PASS: Final = 0o711  # others go through, and see no names
SHARED: Final = 0o1777  # nbgrader wants it writable; nobody removes what is another's
HAND_IN: Final = 0o3733  # the same, but nobody else sees names, and the graders' group is kept


def close(root: Path) -> None:
    """Close a clone to others, with its grades and solutions; what is made in it later is, too."""
    root.chmod(PASS)
    for path in root.iterdir():
        if path.name != OPEN and not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)


def make_place(root: Path, settings: HubSettings) -> None:
    """Make the hub's folders, and say in the clone that work is handed in there.

    Raises:
        CourseError: `course.toml` says that it is handed in elsewhere, or others cannot enter the
            place, which was there before.

    """
    tell_course(root, settings.exchange)
    if not settings.place.exists():
        settings.place.mkdir(parents=True)
        settings.place.chmod(0o755)  # whatever the umask
    elif not settings.place.stat().st_mode & stat.S_IXOTH:  # not ours to open
        raise CourseError(
            f"Students cannot enter {settings.place}. Run chmod o+x {settings.place}, or write "
            f"another place into {FILE}."
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

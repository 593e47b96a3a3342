"""The course's exchange on one machine: lessons are released into it, work is submitted to it.

nbgrader moves assignments through an exchange folder. Here it is in the course's own folder, in
`.course/exchange`, unless a class shares one (`settings.py`); lessons are released into a shared
one by the instructor only. A learner's copies are in `learn/`, which git ignores, so that pulling
a newer course never conflicts with a learner's edits.
"""

import hashlib
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import copytree, ignore_patterns

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from utils.lab.settings import Settings, read_settings
from utils.progress.record import forget

COURSE_ID = "transformer-encoder"
# Files that belong to no lesson; nbgrader skips the same ones when it copies.
LEFTOVERS = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".DS_Store")


@dataclass(frozen=True)
class Course:
    """The course's folders, given the folder that holds them all."""

    root: Path

    @property
    def private(self) -> Path:
        """Return the folder for the course's own use: exchange, copies of submissions, settings."""
        return self.root / ".course"

    @cached_property
    def settings(self) -> Settings:
        """Return what is set for the class.

        Raises:
            SettingsError: the settings cannot be used.

        """
        return read_settings(self.root)

    @property
    def exchange(self) -> Path:
        """Return the exchange folder, with nbgrader's layout: the class's or the course's own."""
        return self.settings.shared or self.private / "exchange"

    @property
    def has_submit(self) -> bool:
        """Return whether what nbgrader submits reaches whoever grades.

        It does not on Windows, where nbgrader has no exchange, nor in a student's bundle whose
        instructor takes uploads. Beside the grader, the course's own exchange is always one.
        """
        uploads = bool(self.settings.upload) and not (self.root / "grader").is_dir()
        return not uploads and sys.platform != "win32"

    @property
    def has_own_exchange(self) -> bool:
        """Return whether lessons are released and submitted within the course's own folder."""
        return self.has_submit and self.settings.shared is None

    @property
    def learn(self) -> Path:
        """Return the folder with the learner's own copies, which JupyterLab shows."""
        return self.root / "learn"

    def source(self, lesson: str) -> Path:
        """Return the lesson's folder as the course ships it."""
        return self.root / "notebooks" / lesson

    def released(self, lesson: str) -> Path:
        """Return the lesson's folder as the exchange offers it."""
        return self.exchange / COURSE_ID / "outbound" / lesson

    def lessons(self) -> list[str]:
        """Return the names of all lessons, in order."""
        return sorted({path.parent.name for path in self.root.glob("notebooks/*/*.ipynb")})


def exchange_settings(course: Course) -> Config:
    """Return nbgrader's settings for the exchange, the same for learners and instructors."""
    return Config(
        CourseDirectory={"course_id": COURSE_ID},
        ExchangeFactory={"submit": "utils.lab.submit.Submit"},
        Exchange={
            "root": str(course.exchange),
            "cache": str(course.private / "submitted"),
            "assignment_dir": str(course.learn),
        },
    )


def prepare(course: Course) -> list[str]:
    """Release what is new, copy what the learner lacks, and leave the learner's files alone.

    Return one line for each lesson that was copied or that has a newer release.
    Raise nbgrader's ExchangeError if the exchange cannot be used.
    """
    # nbgrader's own log would bother a learner with permissions and internal folders.
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    course.learn.mkdir(exist_ok=True)
    seen = _read_fetched(course)
    lines = [line for lesson in course.lessons() for line in _offer(course, lesson, seen)]
    _fetched_file(course).write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")
    return lines


def _offer(course: Course, lesson: str, seen: dict[str, str]) -> Iterator[str]:
    """Release and fetch one lesson; note in `seen` which release the learner's copy comes from."""
    current = _digest(course.source(lesson))
    if course.has_own_exchange:
        release(course, lesson)
    copy = course.learn / lesson
    if not list(copy.glob("*.ipynb")):
        _fetch(course, lesson)
        forget(course.learn, lesson)  # what is on record is about another copy
        seen[lesson] = current
        yield f"{lesson}: your copy is in {copy.relative_to(course.root)}"
    elif seen.setdefault(lesson, current) != current:
        yield (
            f"{lesson}: a newer version is out; yours is kept as it is. To take the new one, "
            f"rename your notebook's folder {copy.relative_to(course.root)} and start again"
        )


def _settings_for(course: Course, lesson: str) -> Config:
    config = exchange_settings(course)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.release_directory = "notebooks"
    config.CourseDirectory.assignment_id = lesson
    config.ExchangeReleaseAssignment.force = True  # a newer release replaces the older one
    config.ExchangeFetchAssignment.replace_missing_files = True  # and only missing ones
    return config


def release(course: Course, lesson: str) -> bool:
    """Release a lesson into the exchange unless it is there already; return whether it was not.

    Raises:
        ExchangeError: the exchange cannot be used.

    """
    if _digest(course.released(lesson)) == _digest(course.source(lesson)):
        return False
    config = _settings_for(course, lesson)
    ExchangeFactory(config=config).ReleaseAssignment(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    ).start()
    return True


def _fetch(course: Course, lesson: str) -> None:
    if not course.has_own_exchange:  # what the course ships is at hand, a shared folder may not be
        ignored = ignore_patterns(*LEFTOVERS)
        copytree(course.source(lesson), course.learn / lesson, ignore=ignored, dirs_exist_ok=True)
        return
    config = _settings_for(course, lesson)
    ExchangeFactory(config=config).FetchAssignment(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    ).start()


def _digest(folder: Path) -> str:
    """Return a checksum of a folder's files, by name and content; a missing folder has one too."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(map(_is_leftover, inside.parts)):
            total.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def _is_leftover(name: str) -> bool:
    return any(Path(name).match(pattern) for pattern in LEFTOVERS)


def _fetched_file(course: Course) -> Path:
    """Return the file, hidden in JupyterLab, that notes which release each copy came from."""
    return course.learn / ".releases.json"


def _read_fetched(course: Course) -> dict[str, str]:
    """Read which release each copy came from; if unknown, every copy counts as current."""
    try:
        noted = json.loads(_fetched_file(course).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
    return {str(lesson): str(digest) for lesson, digest in noted.items()} if noted else {}

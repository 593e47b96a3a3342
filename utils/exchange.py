"""The course's exchange on one machine: lessons are released into it, work is submitted to it.

nbgrader moves assignments through an exchange folder. Here it lies in the course's own folder, in
`.course/exchange`; a learner's copies lie in `learn/`, which git ignores, so that pulling a newer
course never meets a learner's edits.
"""

import hashlib
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

COURSE_ID = "transformer-encoder"
# What no lesson consists of; nbgrader leaves the same behind when it copies.
LEFTOVERS = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".DS_Store")


@dataclass(frozen=True)
class Course:
    """The course's folders, given the one that holds them all."""

    root: Path

    @property
    def private(self) -> Path:
        """What the course keeps for itself: exchange, copies of submissions, settings."""
        return self.root / ".course"

    @property
    def exchange(self) -> Path:
        """The exchange, laid out as nbgrader lays it out."""
        return self.private / "exchange"

    @property
    def learn(self) -> Path:
        """The learner's own copies; JupyterLab shows this folder."""
        return self.root / "learn"

    def source(self, lesson: str) -> Path:
        """Give the lesson as the course ships it."""
        return self.root / "notebooks" / lesson

    def released(self, lesson: str) -> Path:
        """Give the lesson as the exchange offers it."""
        return self.exchange / COURSE_ID / "outbound" / lesson

    def lessons(self) -> list[str]:
        """Name every lesson, in order."""
        return sorted({path.parent.name for path in self.root.glob("notebooks/*/*.ipynb")})


def exchange_settings(course: Course) -> Config:
    """Give nbgrader's settings of the exchange, the same for learners and instructors."""
    return Config(
        CourseDirectory={"course_id": COURSE_ID},
        Exchange={
            "root": str(course.exchange),
            "cache": str(course.private / "submitted"),
            "assignment_dir": str(course.learn),
        },
    )


def prepare(course: Course) -> list[str]:
    """Release what is new, give the learner what is missing, and leave their files alone.

    Returns one line for each lesson that was copied or that has a newer release.
    Raises nbgrader's ExchangeError when the exchange cannot be used.
    """
    # nbgrader's own log would tell a learner about permissions and internal folders.
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    course.learn.mkdir(exist_ok=True)
    seen = _read_fetched(course)
    lines = [line for lesson in course.lessons() for line in _offer(course, lesson, seen)]
    _fetched_file(course).write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")
    return lines


def _offer(course: Course, lesson: str, seen: dict[str, str]) -> Iterator[str]:
    """Release and fetch one lesson; note in `seen` which release the learner's copy is."""
    current = _digest(course.source(lesson))
    if _has_exchange() and _digest(course.released(lesson)) != current:
        _release(course, lesson)
    copy = course.learn / lesson
    if not list(copy.glob("*.ipynb")):
        _fetch(course, lesson)
        seen[lesson] = current
        yield f"{lesson}: your copy is in {copy.relative_to(course.root)}"
    elif seen.setdefault(lesson, current) != current:
        yield (
            f"{lesson}: a newer version is out; yours is kept as it is. To take the new one, "
            f"rename your notebook's folder {copy.relative_to(course.root)} and start again"
        )


def _has_exchange() -> bool:
    """On Windows nbgrader has no exchange: lessons are copied, and nothing can be submitted."""
    return sys.platform != "win32"


def _settings_for(course: Course, lesson: str) -> Config:
    config = exchange_settings(course)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.release_directory = "notebooks"
    config.CourseDirectory.assignment_id = lesson
    config.ExchangeReleaseAssignment.force = True  # a newer release takes the older one's place
    config.ExchangeFetchAssignment.replace_missing_files = True  # and only those
    return config


def _release(course: Course, lesson: str) -> None:
    config = _settings_for(course, lesson)
    ExchangeFactory(config=config).ReleaseAssignment(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    ).start()


def _fetch(course: Course, lesson: str) -> None:
    if not _has_exchange():
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
    """Sum up a folder's files by name and content; a folder that is not there has a sum too."""
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
    """Which release each of the learner's copies came from; hidden in JupyterLab's file list."""
    return course.learn / ".releases.json"


def _read_fetched(course: Course) -> dict[str, str]:
    """Read the note; without it, or with it damaged, every copy counts as current."""
    try:
        noted = json.loads(_fetched_file(course).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
    return {str(lesson): str(digest) for lesson, digest in noted.items()} if noted else {}

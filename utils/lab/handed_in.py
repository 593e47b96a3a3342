"""What a learner has submitted through the exchange, and the feedback on it."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.utils import parse_utc

from utils.lab.exchange import Course, exchange_settings
from utils.lab.lessons import read_cells, source


@dataclass(frozen=True)
class HandedIn:
    """A learner's last submission of a lesson.

    Attributes:
        when: the time of the submission.
        changed: whether the notebook's cells are others since.
        feedback: the page with the newest feedback that was fetched, None if none was.
        to_fetch: whether the exchange has feedback that was not fetched yet.

    """

    when: dt.datetime
    changed: bool
    feedback: Path | None
    to_fetch: bool


def handed_in(course: Course) -> dict[str, HandedIn]:
    """Return the learner's last submissions, by lesson; none where there is no exchange."""
    if not course.has_submit:
        return {}
    config = exchange_settings(course)
    lister = ExchangeFactory(config=config).List(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
    lister.cached = True
    try:
        found = lister.start()
    except (ExchangeError, OSError):
        return {}
    return {each["assignment_id"]: _summary(course, each["submissions"]) for each in found}


def _summary(course: Course, submissions: list[Mapping[str, Any]]) -> HandedIn:
    """Summarise a lesson's submissions, which nbgrader lists from the first to the last."""
    last = submissions[-1]
    pages = [Path(note["local_feedback_path"]) for s in submissions for note in _fetched(s)]
    return HandedIn(
        when=parse_utc(last["timestamp"]).replace(tzinfo=dt.UTC).astimezone(),
        changed=any(_differs(course, last, Path(note["path"])) for note in last["notebooks"]),
        feedback=pages[-1] if pages else None,
        to_fetch=any(_waits(each) for each in submissions),
    )


def _fetched(submission: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [note for note in submission["notebooks"] if note["has_local_feedback"]]


def _waits(submission: Mapping[str, Any]) -> bool:
    fetched, there = submission["has_local_feedback"], submission["has_exchange_feedback"]
    return bool(there and (not fetched or submission["feedback_updated"]))


def _differs(course: Course, submission: Mapping[str, Any], sent: Path) -> bool:
    """Return whether the learner's notebook has other cells than the copy that was sent."""
    mine = course.learn / submission["assignment_id"] / sent.name
    try:
        return [source(c) for c in read_cells(mine)] != [source(c) for c in read_cells(sent)]
    except (OSError, ValueError):
        return True

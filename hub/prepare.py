"""Get a clone of the course ready for a class, in steps that are told before they are done."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.errors import CourseError
from hub import folders
from hub.accounts import GROUP, ensure_group
from hub.configuration import Hub
from hub.owner import owner_of
from hub.passwords import FILE as PASSWORDS
from hub.passwords import add_passwords
from hub.roster import students_of
from hub.settings import FILE, HubSettings, read_settings


@dataclass(frozen=True)
class Step:
    """One thing to do, and what is said of it before."""

    says: str
    do: Callable[[], object]


def steps(root: Path, settings: HubSettings) -> list[Step]:
    """Return what gets a clone ready, in order; doing it again does no harm."""
    owner = owner_of(root).pw_name
    found = [
        Step(
            f"make the group {GROUP}; each student's account follows at the first start",
            ensure_group,
        ),
        Step(
            f"make {settings.exchange}, where students hand in and read nobody's work",
            lambda: folders.make_place(root, settings),
        ),
        Step(
            f"release the lessons, and put what students get into {settings.served}",
            lambda: folders.serve(root, settings),
        ),
    ]
    if settings.lti is None:
        says = f"give everyone in the class without one a first password, in {PASSWORDS}"
        found.append(Step(says, lambda: _give_passwords(root, settings)))
    says = f"close {root} to all but {owner}; {folders.OPEN} stays readable"
    return [*found, Step(says, lambda: folders.close(root))]


def _give_passwords(root: Path, settings: HubSettings) -> None:
    add_passwords(root / PASSWORDS, [*students_of(root), *settings.instructors])


def ready_hub(root: Path) -> Hub:
    """Return the hub of a clone that was got ready.

    Raises:
        CourseError: it was not.

    """
    settings = read_settings(root)
    if settings is None:
        raise CourseError(f"There is no {FILE} yet. Run make hub, which asks for what it needs.")
    return Hub(root, settings, owner_of(root).pw_name, tuple(students_of(root)))

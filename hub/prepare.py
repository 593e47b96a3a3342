"""Get a clone of the course ready for a class, in steps that are told before they are done."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hub import folders
from hub.accounts import GROUP, ONLY_OWNER, end_processes, ensure_group, members_who_used
from hub.owner import owner_of
from hub.passwords import FILE as PASSWORDS
from hub.passwords import add_passwords
from hub.roster import students_of
from hub.settings import HubSettings


@dataclass(frozen=True)
class Step:
    """One thing to do, and what is said of it before."""

    says: str
    do: Callable[[], object]


def steps(root: Path, settings: HubSettings, *, starts: bool) -> list[Step]:
    """Return what gets a clone ready, in order; doing it again does no harm.

    Args:
        root: the clone.
        settings: its hub's.
        starts: whether the hub is to start then: without servers, students have no processes.

    """
    owner = owner_of(root).pw_name
    found = [
        Step(
            "end what students' accounts still run, without a server of theirs",
            lambda: _end_leftovers(settings),
        )
    ] * starts
    found += [
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
        Step(
            f"put the environment of their servers into {settings.environment}",
            lambda: folders.make_environment(root, settings),
        ),
    ]
    if settings.lti is None:
        says = f"give everyone in the class without one a first password, in {PASSWORDS}"
        found.append(Step(says, lambda: add_passwords(root / PASSWORDS, students_of(root))))
    says = f"close {root} to all but {owner}"
    return [*found, Step(says, lambda: root.chmod(ONLY_OWNER))]


def _end_leftovers(settings: HubSettings) -> None:
    for name in members_who_used(settings.users):
        end_processes(name)

"""Ask for what a hub needs to know, where `hub.toml` does not say it yet."""

from pathlib import Path

from grader.errors import CourseError
from hub.owner import give, owner_of
from hub.settings import FILE, HubSettings, from_table, read_settings, write_settings

YES = ("y", "yes")


def settings_of(root: Path, *, may_ask: bool) -> HubSettings:
    """Return the settings of a clone's hub; if there are none yet, ask, and write them down.

    Raises:
        CourseError: they cannot be used, or nobody answers.

    """
    known = read_settings(root)
    if known is not None:
        return known
    if not may_ask:
        raise CourseError(
            f'There is no {FILE} yet. Write one; a line is enough: instructors = ["ada"]'
        )
    settings = _asked(owner_of(root).pw_name)
    write_settings(root, settings)
    give(root / FILE, root)
    return settings


def _asked(owner: str) -> HubSettings:
    names = ask("Who grades (names on the hub, separated by spaces)", owner).split()
    address = ask("Where do browsers find the hub", HubSettings.address)
    memory = ask("How much memory may a student's server use", HubSettings.memory)
    return from_table({"instructors": names, "address": address, "memory": memory})


def ask(question: str, usual: str) -> str:
    """Ask a question on the terminal; no answer means the usual one.

    Raises:
        CourseError: there is no terminal.

    """
    try:
        return input(f"{question}? [{usual}] ").strip() or usual
    except EOFError:
        raise CourseError(f"Nobody answers here. Write {FILE}, then: make hub ARGS=--yes") from None


def agrees(question: str) -> bool:
    """Ask whether to go on."""
    return ask(question, "no").lower() in YES

"""Where the workers are: on this machine, or behind a scheduler's address."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from grader.errors import UsageError

LOCAL: Final = "local:"
MOST_LOCAL: Final = 1024  # workers on one machine
FORMS: Final = "Write local:N for N workers on this machine, or a scheduler's tls://host:port."
HOW: Final = "docs/cluster.md says how a scheduler is started with TLS."


@dataclass(frozen=True)
class Local:
    """So many workers on this machine, started for this run alone."""

    n_workers: int


@dataclass(frozen=True)
class Remote:
    """A scheduler that runs already, spoken to by TLS, and the workers that it has."""

    address: str

    @property
    def place(self) -> tuple[str, int]:
        """Return its host and port."""
        found = urlsplit(self.address)
        return str(found.hostname), int(found.port or 0)


def read_address(text: str) -> Local | Remote:
    """Read what follows `--cluster`.

    Raises:
        UsageError: it is neither form. Without TLS, whoever reaches the scheduler, other users of
            this machine too, could read what students wrote and run programs as the grader.

    """
    if text.startswith(LOCAL):
        return Local(_count(text))
    try:
        found = urlsplit(text)
        is_whole = bool(found.hostname) and found.port is not None
    except ValueError:  # no port, or no host
        is_whole = False
    if is_whole and found.scheme == "tls":
        return Remote(text)
    why = "is not encrypted by TLS" if is_whole else "is no address"
    raise UsageError(f"--cluster {text!r} {why}. {FORMS} {HOW}")


def _count(text: str) -> int:
    number = text.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 0 < int(number) <= MOST_LOCAL):
        raise UsageError(f"--cluster {text!r}: after local: comes a number of workers. {FORMS}")
    return int(number)

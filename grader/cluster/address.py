"""Where the workers are: on this machine, or behind a scheduler's address."""

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from grader.errors import UsageError

LOCAL: Final = "local:"
MOST_LOCAL: Final = 1024  # workers on one machine
FORMS: Final = "Write local:N for N workers on this machine, or a scheduler's tls://host:port."


@dataclass(frozen=True)
class Local:
    """So many workers on this machine, started for this run alone."""

    n_workers: int


@dataclass(frozen=True)
class Remote:
    """A scheduler that runs already, and the workers that it has."""

    address: str

    @property
    def is_encrypted(self) -> bool:
        """Return whether it is spoken to by TLS."""
        return self.address.startswith("tls://")

    @property
    def place(self) -> tuple[str, int]:
        """Return its host and port."""
        found = urlsplit(self.address)
        return str(found.hostname), int(found.port or 0)


def read_address(text: str) -> Local | Remote:
    """Read what follows `--cluster`.

    Raises:
        UsageError: it is neither form, or would send students' work over a network unencrypted.

    """
    if text.startswith(LOCAL):
        return Local(_count(text))
    scheme, host = _parts(text)
    if scheme == "tcp" and not is_this_machine(host):
        raise UsageError(
            f"--cluster {text} is not encrypted: whoever can reach it could read what students "
            "wrote, and run programs in your name. Start the scheduler and its workers with TLS, "
            f"then write tls://{urlsplit(text).netloc}: docs/cluster.md says how."
        )
    return Remote(text)


def _count(text: str) -> int:
    number = text.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 0 < int(number) <= MOST_LOCAL):
        raise UsageError(f"--cluster {text!r}: after local: comes a number of workers. {FORMS}")
    return int(number)


def _parts(text: str) -> tuple[str, str]:
    """Return an address's scheme and host."""
    try:
        found = urlsplit(text)
        scheme, host, port = found.scheme, found.hostname, found.port
    except ValueError:  # no port, or no host
        scheme, host, port = "", None, None
    if scheme not in ("tcp", "tls") or not host or port is None:
        raise UsageError(f"--cluster {text!r} is no address. {FORMS}")
    return scheme, host


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine by its loopback address, where no network is used."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may be anybody's
        return False

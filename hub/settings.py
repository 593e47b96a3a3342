"""What an instructor has set for a class's hub, in the file `hub.toml` beside the course."""

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from grader.errors import CourseError, verify_known
from utils.text_files import read_text

FILE: Final = "hub.toml"
GONE: Final = {
    "instructors": "nobody manages the hub in a browser, and instructors grade with make teach",
    "sign_up": "whoever is in the roster has a first password, which make hub writes",
}
# A system account's name as every Linux takes it. With the hub's name for a person it is the same.
NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
DOMAIN: Final = re.compile(r"([a-z0-9-]+\.)*[a-z][a-z0-9-]*(:\d+)?")
LAST_PORT: Final = 65533  # the hub takes two more
MEMORY: Final = re.compile(r"[1-9]\d*(\.\d+)?[KMGT]")


@dataclass(frozen=True)
class Lti:
    """How a learning system logs people in by LTI 1.3; it tells these when the hub is added there.

    Attributes:
        client_id: the hub's id there.
        issuer: the system's own address, as it names itself.
        authorize_url: where it answers who somebody is.
        jwks_endpoint: where its public keys are.
        username_key: what of its answer is a person's name on the hub.

    """

    client_id: str
    issuer: str
    authorize_url: str
    jwks_endpoint: str
    username_key: str = "email"


@dataclass(frozen=True)
class HubSettings:
    """A class's hub.

    Attributes:
        place: the folder for the exchange, what students' servers run and the hub's state.
        address: where the hub listens; the next two ports are for its parts.
        subdomain_host: where browsers find it, if each student's server is at a domain of its own
            below that; "" if all share one.
        memory: that a student's server may use, such as "2G".
        cpus: that a student's server may use at once.
        processes: and threads that a student may have at once.
        idle_minutes: after which a server that nobody uses is stopped; its files stay.
        certificate: file with the certificate of the address, if the hub itself serves https.
        key: file with the certificate's key.
        lti: the learning system that logs people in; None if the hub does, with passwords.

    """

    place: Path = Path("/srv/transformer-encoder")
    address: str = "http://127.0.0.1:8000"
    subdomain_host: str = ""
    memory: str = "2G"
    cpus: float = 1.0
    processes: int = 512
    idle_minutes: int = 60
    certificate: str = ""
    key: str = ""
    lti: Lti | None = None

    @property
    def port(self) -> int:
        """Return the port of the address."""
        parts = urlsplit(self.address)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def exchange(self) -> Path:
        """Return the exchange that the class shares."""
        return self.place / "exchange"

    @property
    def served(self) -> Path:
        """Return the copy of what students get."""
        return self.place / "course"

    @property
    def environment(self) -> Path:
        """Return the environment that students' servers run in."""
        return self.place / "environment"

    @property
    def state(self) -> Path:
        """Return the folder for the hub's own files: who is who, cookies' secret."""
        return self.place / "state"

    @property
    def users(self) -> Path:
        """Return the hub's database."""
        return self.state / "jupyterhub.sqlite"


def read_settings(root: Path) -> HubSettings:
    """Read the settings beside a course; the usual ones if there is no such file.

    Raises:
        CourseError: the file cannot be read, or a value cannot be used.

    """
    file = root / FILE
    try:
        found = tomllib.loads(read_text(file))
    except FileNotFoundError:
        return HubSettings()
    except (OSError, ValueError) as error:
        raise CourseError(f"{file} cannot be read: {error}") from None
    try:
        return from_table(found)
    except CourseError as error:
        raise CourseError(f"{file}: {error}") from None


def from_table(found: dict[str, Any]) -> HubSettings:
    """Return the settings that a table of TOML holds.

    Raises:
        CourseError: something is unknown, or cannot be used.

    """
    values = dict(found)
    for name in values:
        if name in GONE:
            raise CourseError(f"take the line {name} out; {GONE[name]} (docs/hub.md, Upgrade)")
        verify_known("setting", name, [each.name for each in fields(HubSettings)])
    if "lti" in values:
        values["lti"] = _lti(values["lti"])
    for name, value in values.items():
        _verify_type(name, value)
    values["place"] = Path(values.get("place", HubSettings.place))
    settings = HubSettings(**values)
    _verify(settings)
    return settings


def _lti(found: Any) -> Lti:
    known = [each.name for each in fields(Lti)]
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise CourseError('[lti] must have lines such as client_id = "10000000000001"')
    for name in found:
        verify_known("setting of [lti]", name, known)
    if missing := [name for name in known[:-1] if not found.get(name)]:
        raise CourseError(f"[lti] lacks {', '.join(missing)}; your learning system shows them")
    return Lti(**found)


TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "cpus": ((int, float), "a number, such as 1.5"),
    "processes": ((int,), "a whole number"),
    "idle_minutes": ((int,), "a whole number"),
    "lti": ((Lti,), "a table"),
}


def _verify_type(name: str, value: Any) -> None:
    types, what = TYPES.get(name, ((str, Path), "a text in quotes"))
    if not isinstance(value, types) or isinstance(value, bool):
        raise CourseError(f"{name} must be {what}, not {value!r}")


def _verify(settings: HubSettings) -> None:
    """Check the values that a person types; JupyterHub would tell them late, by a traceback."""
    if not MEMORY.fullmatch(settings.memory):
        raise CourseError(f'memory must be such as "2G" or "800M", not {settings.memory!r}')
    if min(settings.cpus, settings.processes, settings.idle_minutes) <= 0:
        raise CourseError("cpus, processes and idle_minutes must be above 0")
    if not settings.place.is_absolute() or settings.place == Path("/"):
        raise CourseError(f"place must be a folder's whole path, not {str(settings.place)!r}")
    if bool(settings.certificate) != bool(settings.key):
        raise CourseError("certificate and key go together: name both files, or neither")
    if not _is_usable(settings.address):
        raise CourseError(
            "address must be such as http://127.0.0.1:8000 or https://0.0.0.0:443, not "
            f"{settings.address!r}"
        )
    host = settings.subdomain_host
    if host and not (_is_usable(host) and DOMAIN.fullmatch(urlsplit(host).netloc)):
        raise CourseError(
            "subdomain_host must be a whole address with a name and no path, such as "
            f"https://hub.example.org, not {host!r}"
        )


def _is_usable(address: str) -> bool:
    parts = urlsplit(address)
    try:
        port = parts.port or 1
    except ValueError:  # no number
        return False
    is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    return is_whole and not parts.path.strip("/") and port <= LAST_PORT


def verify_name(name: Any) -> None:
    """Check that a name can be an account's on this machine.

    Raises:
        CourseError: it cannot.

    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise CourseError(
            f"{name!r} cannot be an account's name: take a small letter, then small letters, "
            "digits, - and _, at most 31 in all"
        )

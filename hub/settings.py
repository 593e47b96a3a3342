"""What an instructor has set for a class's hub, in the file `hub.toml` beside the course."""

import json
import re
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from grader.errors import CourseError, verify_known
from utils.text_files import read_text

FILE: Final = "hub.toml"
DESK: Final = "grading"  # the service at which instructors grade
DESK_PREFIX: Final = f"/services/{DESK}/"
DESK_PAGE: Final = "/lab/tree/docs/desk.md"  # what instructors read first
# A system account's name as every Linux takes it. With the hub's name for a person it is the same.
NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
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
        instructors: names on the hub of those who grade; they also manage it.
        place: the folder for the exchange, the students' copy of the course and the hub's state.
        address: where browsers find the hub; the next three ports are for its parts.
        sign_up: whether anybody may ask for an account, which an instructor then grants.
        memory: that a student's server may use, such as "2G".
        cpus: that a student's server may use at once.
        processes: and threads that a student may have at once.
        idle_minutes: after which a server that nobody uses is stopped; its files stay.
        certificate: file with the certificate of the address, if the hub itself serves https.
        key: file with the certificate's key.
        lti: the learning system that logs people in; None if the hub does, with passwords.

    """

    instructors: tuple[str, ...]
    place: Path = Path("/srv/transformer-encoder")
    address: str = "http://127.0.0.1:8000"
    sign_up: bool = False
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
    def state(self) -> Path:
        """Return the folder for the hub's own files: who is who, cookies' secret."""
        return self.place / "state"


def read_settings(root: Path) -> HubSettings | None:
    """Read the settings beside a course; None if there are none yet.

    Raises:
        CourseError: the file cannot be read, or a value cannot be used.

    """
    file = root / FILE
    try:
        found = tomllib.loads(read_text(file))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CourseError(f"{file} cannot be read: {error}") from None
    try:
        return from_table(found)
    except CourseError as error:
        raise CourseError(f"{file}: {error}") from None


def from_table(found: dict[str, Any]) -> HubSettings:
    """Return the settings that a table of TOML holds.

    Raises:
        CourseError: something is unknown, missing or cannot be used.

    """
    values = dict(found)
    for name in values:
        verify_known("setting", name, [each.name for each in fields(HubSettings)])
    if "instructors" not in values:
        raise CourseError('it names no instructors; write such as instructors = ["ada"]')
    if "lti" in values:
        values["lti"] = _lti(values["lti"])
    for name, value in values.items():
        _verify_type(name, value)
    values["instructors"] = tuple(values["instructors"])
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
    "instructors": ((list, tuple), 'a list of names, such as ["ada"]'),
    "sign_up": ((bool,), "true or false"),
    "cpus": ((int, float), "a number, such as 1.5"),
    "processes": ((int,), "a whole number"),
    "idle_minutes": ((int,), "a whole number"),
    "lti": ((Lti,), "a table"),
}


def _verify_type(name: str, value: Any) -> None:
    types, what = TYPES.get(name, ((str, Path), "a text in quotes"))
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise CourseError(f"{name} must be {what}, not {value!r}")


def _verify(settings: HubSettings) -> None:
    """Check the values that a person types; JupyterHub would tell them late, by a traceback."""
    for name in settings.instructors:
        verify_name(name)
    if not settings.instructors:
        raise CourseError("instructors is empty; name at least one")
    if not MEMORY.fullmatch(settings.memory):
        raise CourseError(f'memory must be such as "2G" or "800M", not {settings.memory!r}')
    if min(settings.cpus, settings.processes, settings.idle_minutes) <= 0:
        raise CourseError("cpus, processes and idle_minutes must be above 0")
    if not settings.place.is_absolute() or settings.place == Path("/"):
        raise CourseError(f"place must be a folder's whole path, not {str(settings.place)!r}")
    if bool(settings.certificate) != bool(settings.key):
        raise CourseError("certificate and key go together: name both files, or neither")
    _verify_address(settings.address)


def _verify_address(address: str) -> None:
    parts = urlsplit(address)
    try:
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) < 65533
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        raise CourseError(
            f"address must be such as http://127.0.0.1:8000 or https://0.0.0.0:443, not {address!r}"
        )


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


def write_settings(root: Path, settings: HubSettings) -> None:
    """Write the settings that differ from the usual ones into the file beside the course."""
    usual = asdict(HubSettings(instructors=()))
    lines = ["# The class's hub; docs/hub.md says what can stand here."]
    for name, value in asdict(settings).items():
        if value != usual[name] and name != "lti":
            lines.append(f"{name} = {_as_toml(value)}")
    (root / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _as_toml(value: Any) -> str:
    return json.dumps(str(value) if isinstance(value, Path) else value)

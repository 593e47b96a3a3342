"""The address of a gradebook, and how it is shown: never with its password."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url

POSTGRESQL = "postgresql"


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite gradebook; None for a gradebook on a server."""
    parts = make_url(url)
    return Path(parts.database) if parts.get_backend_name() == "sqlite" and parts.database else None


def file_url(file: Path) -> str:
    """Return the address of a SQLite gradebook, whatever characters its path holds."""
    return "sqlite:///" + str(file).replace("%", "%25").replace("?", "%3F")


def is_on_server(url: str) -> bool:
    """Return whether a gradebook is in PostgreSQL."""
    return make_url(url).get_backend_name() == POSTGRESQL


def shown(url: str) -> str:
    """Return the address fit for printing: a password, wherever it stands, is masked."""
    parts = make_url(url)
    if "password" in parts.query:
        parts = parts.update_query_dict({"password": "MASKED"})
    return parts.render_as_string(hide_password=True).replace("password=MASKED", "password=***")


def has_password(url: str) -> bool:
    """Return whether an address holds a password, which a command line would show to others."""
    return bool(_passwords(make_url(url)))


def without_password(text: str, url: str) -> str:
    """Return what a database said, with the address's password masked wherever it stands."""
    for password in _passwords(make_url(url)):
        text = text.replace(password, "***")
    return text


def _passwords(parts: URL) -> list[str]:
    query = parts.query.get("password", ())
    found = [query] if isinstance(query, str) else list(query)
    return [str(password) for password in (parts.password, *found) if password]

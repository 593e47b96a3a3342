"""Explain refusals of a database server: a sentence for each, and a remedy."""

from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from grader.gradebook.address import shown, without_password

NO_DRIVER: Final = (
    "A gradebook in PostgreSQL needs psycopg, which is not installed. Run .venv/bin/python -m pip "
    "install -c constraints.txt -e '.[grader,postgres]', then the same command."
)
# What the server or its driver says -> what happened, and what helps. The first that fits counts.
CAUSES: Final = {
    "password authentication failed": (
        "the server does not take the name or password",
        "Correct the password in ~/.pgpass (a line host:port:database:name:password, mode 600)",
    ),
    "no password supplied": (
        "the server asks for a password",
        "Write it into ~/.pgpass (a line host:port:database:name:password, mode 600)",
    ),
    'database "': (
        "there is no such database",
        "Make it on the server (createdb --owner NAME DATABASE), or correct its name in db_url",
    ),
    'role "': (
        "the server does not know this name",
        "Make it on the server (createuser --pwprompt NAME), or correct it in db_url",
    ),
    "permission denied": (
        "this name may not do that there",
        "Make it the database's owner (ALTER DATABASE name OWNER TO name)",
    ),
    "definition of service": (
        "there is no such service",
        "Add it to ~/.pg_service.conf, or correct its name in db_url",
    ),
    "no pg_hba.conf entry": (
        "the server takes no connection of this name from here",
        "Ask who runs it for a line in its pg_hba.conf",
    ),
    "is not permitted to log in": (
        "this name may not log in",
        "Allow it on the server (ALTER ROLE name LOGIN)",
    ),
}
AWAY: Final = ("connection", "resolve", "timeout", "translate host name", "server")


def refusal(error: SQLAlchemyError, url: str) -> str:
    """Return why the gradebook at an address cannot be used, and what helps."""
    reason = _reason(error, url)
    what, helps = _cause(reason)
    return (
        f"The gradebook {shown(url)} cannot be used: {what} ({reason}). {helps}, then run the same "
        "command."
    )


def _cause(reason: str) -> tuple[str, str]:
    for words, cause in CAUSES.items():
        if words in reason and (not words.endswith('"') or "does not exist" in reason):
            return cause
    if any(word in reason for word in AWAY):
        return "the server does not answer", "Start it, or correct its address in db_url"
    return "the database refused", "Correct that"


def _reason(error: SQLAlchemyError, url: str) -> str:
    """Return the last of what was said, in one line: before it stands which addresses were tried.

    Only the first line counts, for the others hold rows.
    """
    said = str(getattr(error, "orig", None) or error).strip().splitlines() or [""]
    fatal = [line for line in said if "FATAL:" in line]
    told = (fatal or said)[0].rpartition("FATAL: ")[2].strip().rstrip(".")
    return without_password(told, url)

"""System accounts of those who use the hub: made when they first start a server, and no others.

Whoever may choose a name must not get what an account of this machine has. So a server runs only
as an account that the hub has made, which its group tells.
"""

import grp
import hashlib
import os
import pwd
import re
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Final

from tornado import web

from grader.errors import CourseError
from hub.settings import NAME, verify_name

GROUP: Final = "course-hub"
ONLY_OWNER: Final = 0o700
NOBODY_AT_ALL: Final = 65533  # an id that Linux systems reserve, so no process has it
_DIGITS: Final = 16  # of a checksum: too many to look for a second text with the same
_MADE: Final = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}$")


class AccountError(web.HTTPError):
    """A server cannot be started for somebody; the message is for that person.

    JupyterHub shows a message of its own in place of any other error's.
    """

    def __init__(self, message: str) -> None:
        super().__init__(403, message)
        self.jupyterhub_message = message


def ensure_group() -> None:
    """Make the group that marks the hub's accounts, unless it is there."""
    try:
        grp.getgrnam(GROUP)
    except KeyError:
        _run("groupadd", GROUP)


def ensure_account(name: str) -> None:
    """Make an account for somebody who has none, its home closed to all others.

    Raises:
        AccountError: the name is that of an account which the hub has not made, or cannot be one.

    """
    try:
        verify_name(name)
        pwd.getpwnam(name)
    except CourseError as error:
        raise AccountError(str(error)) from None
    except KeyError:
        _make(name)
        return
    if name not in members():
        raise AccountError(
            f"{name} is an account of this machine that is not the class's, so no server is "
            "started for it. Ask your instructor for another name on the hub."
        )
    _close(name)


def members() -> list[str]:
    """Return the accounts that the hub has made; none if their group is not there."""
    try:
        return grp.getgrnam(GROUP).gr_mem
    except KeyError:
        return []


def members_who_used(database: Path) -> list[str]:
    """Return the accounts that the hub has made and whose names are in one hub's database."""
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as found:
            known = {name for (name,) in found.execute("SELECT name FROM users")}
    except sqlite3.OperationalError:  # it has not run yet
        return []
    return [name for name in members() if name in known]


def _make(name: str) -> None:
    options: tuple[str, ...] = (
        "--create-home",
        "--user-group",
        "--groups",
        GROUP,
        "--shell",
        "/bin/bash",
    )
    # An account's processes are those of its id: it gets no further ids to run others as.
    for key in ("HOME_MODE=0700", "SUB_UID_COUNT=0", "SUB_GID_COUNT=0"):
        options += ("--key", key)
    _run("useradd", *options, name)
    _close(name)


def _close(name: str) -> None:
    """Keep others out of an account's home, and it out of the machine but by the hub.

    What asks PAM takes it for expired: ssh, su, and also cron and at, which would start processes
    when the server has stopped.
    """
    Path(pwd.getpwnam(name).pw_dir).chmod(ONLY_OWNER)
    _run("usermod", "--expiredate", "1", name)


def end_processes(name: str) -> None:
    """End all that an account of the hub's runs, at once: nothing outruns it by forking.

    The kernel sends the signal to what the sender may end. So a child takes the account's rights,
    and keeps an id of its own by which the account cannot end or stop it meanwhile.
    """
    if name not in members():  # an account that was there before
        return
    user = pwd.getpwnam(name).pw_uid
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setresuid(NOBODY_AT_ALL, user, 0)
        os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(0)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AccountError(f"{words[0]} could not do it: {done.stderr.strip()}")


def account_name(told: str) -> str:
    """Return the account's name for somebody whom a learning system calls by any text.

    A text that is a name stays. Of another one the part that can be a name is kept, with a
    checksum of the whole, so that no two people share an account. A name that ends as such a one
    gets a checksum too: else whoever may choose it could take somebody's account.
    """
    if NAME.fullmatch(told) and not _MADE.search(told):
        return told
    checksum = hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]
    kept = re.sub(r"[^a-z0-9_-]+", "-", told.lower().partition("@")[0]).strip("-_")[:13]
    return f"{kept if kept[:1].isalpha() else f'u{kept}'}-{checksum}"

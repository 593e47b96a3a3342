"""Who somebody is: the hub's own passwords, or a learning system's word by LTI 1.3."""

import asyncio
from pathlib import Path
from typing import Any, Final

import bcrypt
from jupyterhub.handlers.login import LoginHandler
from ltiauthenticator.lti13.auth import LTI13Authenticator
from nativeauthenticator import NativeAuthenticator
from nativeauthenticator.orm import UserInfo
from traitlets import Unicode

from hub.accounts import account_name
from hub.passwords import read_passwords

# First passwords are random, and there may be hundreds: the usual 12 would take minutes.
ROUNDS: Final = 8
SECONDS_WHEN_WRONG: Final = 2.0
CHANGE: Final = "/change-password"


class PasswordAuthenticator(NativeAuthenticator):
    """NativeAuthenticator for those who have a first password, until they choose another.

    The table of first passwords is read at each login, so a running hub knows who was added.
    """

    first_passwords = Unicode(help="The table of first passwords.", config=True)

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        """Return the name if the password is right; else None, after a while.

        Nobody is ever locked out: whoever knows a name could do that to others.
        """
        self._enter(self.normalize_username(data["username"]))
        name: str | None = await super().authenticate(handler, data)
        if name is None:
            await asyncio.sleep(SECONDS_WHEN_WRONG)
        return name

    def _enter(self, name: str) -> None:
        """Give somebody their first password who has none yet."""
        if name in (known := self._known()) and not self.user_exists(name):
            kept = bcrypt.hashpw(known[name].encode(), bcrypt.gensalt(ROUNDS))
            self.db.add(UserInfo(username=name, password=kept, is_authorized=True))
            self.db.commit()

    def check_allowed(self, username: str, authentication: Any = None) -> bool:
        """Return whether somebody is in the table."""
        return username in self._known()

    def _known(self) -> dict[str, str]:
        return read_passwords(Path(self.first_passwords))

    def get_handlers(self, app: Any) -> list[tuple[str, Any]]:
        """Return the pages to log in, JupyterHub's own, and to change one's own password."""
        pages = super().get_handlers(app)
        return [("/login", LoginHandler), *(page for page in pages if page[0] == CHANGE)]


class LearningSystemAuthenticator(LTI13Authenticator):
    """LTI 1.3 whose names are accounts' names, whatever the learning system calls people."""

    def get_username(self, token: dict[str, Any]) -> str:
        """Return a person's name on the hub."""
        return account_name(super().get_username(token))

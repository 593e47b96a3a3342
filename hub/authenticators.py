"""Who somebody is: the hub's own passwords, or a learning system's word by LTI 1.3."""

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


class PasswordAuthenticator(NativeAuthenticator):
    """NativeAuthenticator that knows the class's first passwords from its start.

    So nobody can sign up under the name of a student or an instructor before they do.
    """

    first_passwords = Unicode(help="The table of first passwords.", config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, password in read_passwords(Path(self.first_passwords)).items():
            if not self.user_exists(name):
                kept = bcrypt.hashpw(password.encode(), bcrypt.gensalt(ROUNDS))
                self.db.add(UserInfo(username=name, password=kept, is_authorized=True))
        self.db.commit()

    def get_handlers(self, app: Any) -> list[tuple[str, Any]]:
        """Return the pages, with JupyterHub's own to log in: NativeAuthenticator 1.3's fails."""
        pages = super().get_handlers(app)
        return [("/login", LoginHandler), *(each for each in pages if each[0] != "/login")]


class LearningSystemAuthenticator(LTI13Authenticator):
    """LTI 1.3 whose names are accounts' names, whatever the learning system calls people."""

    def get_username(self, token: dict[str, Any]) -> str:
        """Return a person's name on the hub."""
        return account_name(super().get_username(token))

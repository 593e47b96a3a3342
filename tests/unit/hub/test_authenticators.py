"""Who gets in with which password, and that nobody keeps others out."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jupyterhub import orm
from traitlets.config import Config

from hub import authenticators
from hub.authenticators import PasswordAuthenticator
from hub.passwords import FILE, add_passwords, read_passwords, renew_password

CHOSEN = "a-password-of-ones-own"
LogIn = Callable[[str, str], str | None]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    add_passwords(tmp_path / FILE, ["ada", "ben"])
    return tmp_path / FILE


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return tmp_path / "hub.sqlite"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that answers waited; the tests do not."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(authenticators.asyncio, "sleep", sleep)
    return found


@pytest.fixture
def hub(table: Path, users: Path, waits: list[float]) -> Iterator[PasswordAuthenticator]:
    session = orm.new_session_factory(url=f"sqlite:///{users}")()
    config = Config(PasswordAuthenticator={"first_passwords": str(table)})
    yield PasswordAuthenticator(db=session, config=config)
    session.close()


@pytest.fixture
def log_in(hub: PasswordAuthenticator) -> LogIn:
    def log_in(name: str, password: str) -> str | None:
        form = {"username": name, "password": password}
        found = asyncio.run(hub.authenticate(None, form))
        return found if found and hub.check_allowed(found) else None

    return log_in


def test_the_first_password_lets_in_and_no_other_does(log_in: LogIn, table: Path) -> None:
    first = read_passwords(table)
    assert log_in("ada", first["ada"]) == "ada"
    for name, password in (("ada", first["ben"]), ("ada", ""), ("cleo", first["ada"]), ("", "")):
        assert log_in(name, password) is None


def test_who_is_added_while_the_hub_runs_gets_in(log_in: LogIn, table: Path) -> None:
    assert log_in("cleo", "anything") is None
    add_passwords(table, ["cleo"])
    assert log_in("cleo", read_passwords(table)["cleo"]) == "cleo"


def test_a_chosen_password_replaces_the_first_one_until_another_is_given(
    hub: PasswordAuthenticator, log_in: LogIn, table: Path, users: Path
) -> None:
    first = read_passwords(table)["ada"]
    assert log_in("ada", first) == "ada"
    assert hub.change_password("ada", CHOSEN)
    assert (log_in("ada", first), log_in("ada", CHOSEN)) == (None, "ada")
    second = renew_password(table, users, "ada")  # by another process, while the hub runs
    assert (log_in("ada", CHOSEN), log_in("ada", second)) == (None, "ada")


def test_who_is_not_in_the_table_stays_out_whatever_an_earlier_hub_granted(
    hub: PasswordAuthenticator, log_in: LogIn
) -> None:
    hub.enable_signup = hub.open_signup = True
    assert hub.create_user("cleo", CHOSEN)
    assert log_in("cleo", CHOSEN) is None


def test_wrong_passwords_are_answered_late_and_lock_nobody_out(
    log_in: LogIn, table: Path, waits: list[float]
) -> None:
    for _ in range(30):
        assert log_in("ada", "wrong") is None
        assert log_in("nobody", "wrong") is None
    assert waits == [authenticators.SECONDS_WHEN_WRONG] * 60  # alike for who is there and who not
    assert log_in("ada", read_passwords(table)["ada"]) == "ada"
    assert len(waits) == 60


def test_only_pages_to_log_in_and_to_change_ones_own_password_are_there(
    hub: PasswordAuthenticator,
) -> None:
    assert {page for page, _ in hub.get_handlers(None)} == {"/login", "/change-password"}

"""Whose account a server runs as, with made-up accounts in place of the machine's."""

import grp
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyterhub import orm

from hub import accounts
from hub.accounts import (
    GROUP,
    AccountError,
    account_name,
    ensure_account,
    ensure_group,
    members_who_used,
)
from hub.settings import NAME


class Machine:
    """The accounts there are, and the commands that were run."""

    def __init__(self, homes: Path) -> None:
        self.homes, self.members, self.commands = homes, ["ada"], list[tuple[str, ...]]()
        self.names = {"root", "postgres", "ada"}
        self.has_group = True
        for name in self.names:
            self.home(name)

    def home(self, name: str) -> Path:
        (self.homes / name).mkdir(exist_ok=True)
        (self.homes / name).chmod(0o755)
        return self.homes / name

    def account(self, name: str) -> SimpleNamespace:
        if name not in self.names:
            raise KeyError(name)
        return SimpleNamespace(pw_dir=str(self.homes / name))

    def group(self, name: str) -> SimpleNamespace:
        if not self.has_group:
            raise KeyError(name)
        return SimpleNamespace(gr_mem=self.members)

    def run(self, words: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(words)
        if words[0] == "useradd":
            self.names.add(words[-1])
            self.home(words[-1])
        return subprocess.CompletedProcess(words, 1 if "broken" in words else 0, "", "no room")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path)
    monkeypatch.setattr(pwd, "getpwnam", made.account)
    monkeypatch.setattr(grp, "getgrnam", made.group)
    monkeypatch.setattr(accounts.subprocess, "run", made.run)
    return made


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_who_has_no_account_gets_one_in_the_hubs_group_with_a_closed_home(machine: Machine) -> None:
    ensure_account("ben")
    command, closing = machine.commands
    assert command[0] == "useradd"
    assert command[command.index("--groups") + 1] == GROUP
    assert command[-1] == "ben"
    assert closing == ("usermod", "--expiredate", "1", "ben")  # no way in but the hub
    assert mode(machine.homes / "ben") == 0o700


def test_an_account_of_the_hub_stays_and_its_home_is_closed(machine: Machine) -> None:
    ensure_account("ada")
    assert machine.commands == [("usermod", "--expiredate", "1", "ada")]
    assert mode(machine.homes / "ada") == 0o700


@pytest.mark.parametrize("name", ["root", "postgres"])
def test_an_account_that_the_hub_has_not_made_is_nobodys(machine: Machine, name: str) -> None:
    with pytest.raises(AccountError) as error:
        ensure_account(name)
    assert "is an account of this machine" in error.value.jupyterhub_message
    assert mode(machine.homes / name) == 0o755


@pytest.mark.parametrize("name", ["--help", "../ada", "Ada"])
def test_a_name_that_cannot_be_an_account_reaches_no_command(machine: Machine, name: str) -> None:
    with pytest.raises(AccountError):
        ensure_account(name)
    assert machine.commands == []


def test_a_command_that_fails_is_told(machine: Machine) -> None:
    with pytest.raises(AccountError, match="useradd could not do it: no room"):
        ensure_account("broken")


def test_the_group_is_made_once(machine: Machine) -> None:
    ensure_group()
    assert machine.commands == []
    machine.has_group = False
    ensure_group()
    assert machine.commands == [("groupadd", GROUP)]


def test_a_learning_systems_name_that_fits_stays() -> None:
    assert account_name("ada") == "ada"


ODD = ("Ada", "ada@example.org", "ada@example.com", "ada lovelace", "1815", "", "_", "ada" * 40)


@pytest.mark.parametrize("told", ODD)
def test_any_other_becomes_a_name_that_fits(told: str) -> None:
    assert NAME.fullmatch(account_name(told))


def test_no_two_people_share_a_name() -> None:
    assert len({account_name(told) for told in ODD}) == len(ODD)


@pytest.mark.parametrize("victim", ["ada@example.org", "1815", "ada" * 40])
def test_who_chooses_the_name_of_somebodys_account_gets_another(victim: str) -> None:
    taken = account_name(victim)
    assert account_name(taken) != taken


def test_a_checksum_is_too_long_to_look_for_a_second_text_with_the_same() -> None:
    assert len(account_name("ada@example.org").rpartition("-")[2]) * 4 >= 64


def test_of_several_hubs_on_a_machine_each_knows_the_accounts_that_used_it(
    machine: Machine, tmp_path: Path
) -> None:
    machine.members += ["ben", "cleo"]
    for hub, names in (("one", ["ada", "ben", "root"]), ("two", ["cleo"])):
        session = orm.new_session_factory(url=f"sqlite:///{tmp_path / hub}")()
        session.add_all(orm.User(name=name) for name in names)
        session.commit()
        session.close()
    assert members_who_used(tmp_path / "one") == ["ada", "ben"]
    assert members_who_used(tmp_path / "two") == ["cleo"]
    assert members_who_used(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()

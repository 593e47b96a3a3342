"""What `make hub` asks where `hub.toml` does not say it."""

import os
import pwd
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.questions import agrees, settings_of
from hub.settings import FILE, HubSettings, read_settings


def answer(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Type these answers, one after another; gives what was asked."""
    asked: list[str] = []
    left = iter(answers)

    def typed(question: str) -> str:
        asked.append(question)
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed)
    return asked


def test_answers_are_written_down_and_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, "ada ben", "http://127.0.0.1:9000", "3G")
    settings = settings_of(tmp_path, may_ask=True)
    assert settings == HubSettings(("ada", "ben"), address="http://127.0.0.1:9000", memory="3G")
    assert read_settings(tmp_path) == settings
    answer(monkeypatch)
    assert settings_of(tmp_path, may_ask=True) == settings


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for another account")
def test_what_root_writes_down_belongs_to_who_owns_the_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(tmp_path, nobody.pw_uid, nobody.pw_gid)
    answer(monkeypatch, "ada", "", "")
    settings_of(tmp_path, may_ask=True)
    assert (tmp_path / FILE).owner() == "nobody"


def test_no_answer_takes_what_stands_in_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, "", "", "")
    settings = settings_of(tmp_path, may_ask=True)
    assert settings == HubSettings((tmp_path.owner(),))
    assert asked[0].startswith("Who grades (names on the hub, separated by spaces)? [")
    assert f"[{settings.address}]" in asked[1]


def test_an_answer_that_cannot_be_used_is_not_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, "Ada", "", "")
    with pytest.raises(CourseError, match="cannot be an account's name"):
        settings_of(tmp_path, may_ask=True)
    assert not (tmp_path / FILE).exists()


def test_where_nobody_answers_the_file_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch)
    with pytest.raises(CourseError, match=f"Nobody answers here. Write {FILE}"):
        settings_of(tmp_path, may_ask=True)


def test_where_nothing_may_be_asked_a_line_to_write_is_shown(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="a line is enough: instructors"):
        settings_of(tmp_path, may_ask=False)


@pytest.mark.parametrize(
    ("typed", "goes_on"), [("y", True), ("Yes", True), ("", False), ("n", False)]
)
def test_only_a_yes_is_one(monkeypatch: pytest.MonkeyPatch, typed: str, goes_on: bool) -> None:
    answer(monkeypatch, typed)
    assert agrees("Go on") == goes_on

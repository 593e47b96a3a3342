"""`python -m hub`: what it refuses, what it says, in which order it does it."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub import __main__ as command
from hub import machine
from hub.__main__ import main
from hub.prepare import Step

LINE = 'address = "http://127.0.0.1:{port}"\n'


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone of a user who is not root, on a machine that has all that is needed."""
    (tmp_path / "nbgrader_config.py").touch()
    if os.geteuid() == 0:
        os.chown(tmp_path, 64101, 64101)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(machine, "PROXY", tmp_path / "nbgrader_config.py")
    monkeypatch.setattr(machine, "_verify_python", lambda: None)
    before = os.umask(0o022)
    yield tmp_path
    os.umask(before)


@pytest.fixture
def done(clone: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done, of two steps."""
    found: list[str] = []
    two = [Step(name, lambda name=name: found.append(name)) for name in ("first", "second")]
    monkeypatch.setattr(command, "steps", lambda *_, **__: two)
    monkeypatch.setattr(command, "_become_hub", lambda *_: found.append("hub") or 0)
    (clone / "hub.toml").write_text(LINE.format(port=50123))
    return found


def test_the_steps_are_told_then_done_then_the_hub_starts(
    done: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--yes"]) == 0
    assert done == ["first", "second", "hub"]
    assert "  1. first\n  2. second\nand serve http://127.0.0.1:50123" in capsys.readouterr().out


def test_getting_ready_alone_starts_nothing(done: list[str]) -> None:
    assert main(["--yes", "--prepare"]) == 0
    assert done == ["first", "second"]


def test_without_a_yes_nothing_is_done(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "")
    assert main([]) == 1
    assert done == []


def test_an_open_address_without_https_is_warned_of(
    done: list[str], clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "hub.toml").write_text(LINE.format(port=50123).replace("127.0.0.1", "0.0.0.0"))
    main(["--yes"])
    assert "unencrypted" in capsys.readouterr().out


@pytest.mark.parametrize(("with_systemd", "told"), [(True, "CPUs"), (False, "of each process")])
def test_what_the_limits_mean_here_is_told(
    done: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    with_systemd: bool,
    told: str,
) -> None:
    monkeypatch.setattr(command, "has_systemd", lambda: with_systemd)
    main(["--yes"])
    assert told in capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--yes"]) == 1
    return capsys.readouterr().err


def test_an_ordinary_user_is_sent_to_root_or_to_the_demo(
    done: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo make hub" in refusal(capsys)
    assert done == []


def test_a_clone_of_roots_is_refused(
    done: list[str],
    clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stat = os.stat_result([0o100644, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    monkeypatch.setattr(Path, "stat", lambda *_, **__: stat)
    assert "belongs to root" in refusal(capsys)
    assert done == []


def test_another_system_than_linux_is_refused(
    done: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert "needs Linux" in refusal(capsys)


def test_a_missing_proxy_is_named_with_its_remedy(
    done: list[str],
    clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(machine, "PROXY", clone / "none")
    assert "sh setup.sh hub" in refusal(capsys)


def test_a_port_that_is_taken_is_named_before_anything_is_done(
    done: list[str], clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (clone / "hub.toml").write_text(LINE.format(port=port))
        assert f"Port {port} is taken by" in refusal(capsys)
    assert done == []


def test_outside_a_course_the_way_to_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nbgrader_config.py").unlink()
    assert "is not in a course" in refusal(capsys)


def test_a_mistyped_word_is_answered_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["dmo"])
    assert "Did you mean 'demo'?" in capsys.readouterr().err.replace("demo?", "'demo'?")

"""Collection from the exchange: each hand-in touches its own student alone."""

import os
import shutil
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.nbgrader_plugins import collect
from grader.nbgrader_plugins.collect import Collect

LESSON = "00_start_here"
FILE = f"{LESSON}.ipynb"
EARLY, LATE = "2026-12-01 10:00:00.000000 UTC", "2026-12-02 10:00:00.000000 UTC"


@pytest.fixture
def inbound(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange" / "c" / "inbound"
    folder.mkdir(parents=True)
    hand_in(folder, "ada")
    return folder


def hand_in(inbound: Path, student: str, time: str = EARLY, text: str = "", key: str = "x") -> Path:
    folder = inbound / f"{student}+{LESSON}+{time}+{key}"
    folder.mkdir()
    (folder / FILE).write_text(text or student, encoding="utf-8")
    (folder / "timestamp.txt").write_text(time, encoding="utf-8")
    return folder


def collected(inbound: Path, **settings) -> Collect:
    """Collect into the folder beside the exchange."""
    home = inbound.parents[2]
    config = Config(
        CourseDirectory={"root": str(home), "course_id": "c", "assignment_id": LESSON},
        Exchange={"root": str(home / "exchange")},
        ExchangeCollect={"update": True, **settings},
    )
    settings = {"coursedir": CourseDirectory(config=config), "config": config}
    collector = Collect(authenticator=Authenticator(config=config), **settings)
    collector.start()
    return collector


def work(inbound: Path, student: str) -> str:
    return (inbound.parents[2] / "submitted" / student / LESSON / FILE).read_text(encoding="utf-8")


def test_a_link_to_another_file_is_not_followed_and_stops_nobody(inbound: Path):
    secret = inbound.parents[2] / "solution.ipynb"
    secret.write_text("the solution", encoding="utf-8")
    folder = hand_in(inbound, "zed")
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(secret)
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").symlink_to(secret.parent)
    os.mkfifo(folder / "pipe")
    assert collected(inbound).left_out == []
    there = inbound.parents[2] / "submitted" / "zed" / LESSON
    assert [path.name for path in there.iterdir()] == ["timestamp.txt"]
    assert work(inbound, "ada") == "ada"


ODD = {
    f"zed+{LESSON}+never+x": "no time",
    f"..+{LESSON}+{EARLY}+x": "no student's name",
    f"+{LESSON}+{EARLY}+x": "no student's name",
    f"a\x1bb+{LESSON}+{EARLY}+x": "no student's name",
    f"zed+{LESSON}+": "no time",
}


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_folder_is_left_out_with_the_reason(inbound: Path, name: str):
    (inbound / name).mkdir()
    (told,) = collected(inbound).left_out
    assert ODD[name] in told
    assert "\x1b" not in told
    assert work(inbound, "ada") == "ada"


def test_a_folder_that_is_a_link_is_left_out(inbound: Path):
    (inbound / f"zed+{LESSON}+{EARLY}+x").symlink_to(inbound / f"ada+{LESSON}+{EARLY}+x")
    (told,) = collected(inbound).left_out
    assert "a link or no folder" in told
    assert not (inbound.parents[2] / "submitted" / "zed").exists()


def test_a_newer_hand_in_replaces_the_older_and_an_older_does_not(inbound: Path):
    hand_in(inbound, "ada", LATE, "newer")
    collected(inbound)
    assert work(inbound, "ada") == "newer"
    shutil.rmtree(inbound / f"ada+{LESSON}+{LATE}+x")
    collected(inbound)
    assert work(inbound, "ada") == "newer"


def owned_by_others(monkeypatch, owner: str) -> None:
    """Let each hand-in be of a user who is not the one who grades."""
    monkeypatch.setattr(collect, "_owner", lambda _: owner)
    monkeypatch.setattr(Collect, "_is_own", lambda *_: False)


def test_a_folder_in_anothers_name_is_left_out_and_the_owner_told(inbound: Path, monkeypatch):
    collected(inbound)
    hand_in(inbound, "ada", LATE, "mallory's")
    owned_by_others(monkeypatch, "mallory")
    told = collected(inbound).left_out
    assert any("from ada, but mallory owns it" in reason for reason in told)
    assert work(inbound, "ada") == "ada"


@pytest.mark.parametrize(("owner", "check"), [("ada", True), ("mallory", False)])
def test_the_students_own_folder_is_taken_and_any_if_owners_are_not_asked(
    inbound: Path, monkeypatch, owner: str, check: bool
):
    owned_by_others(monkeypatch, owner)
    assert collected(inbound, check_owner=check).left_out == []
    assert work(inbound, "ada") == "ada"


def test_a_time_that_is_none_in_submitted_is_put_right(inbound: Path):
    collected(inbound)
    stamp = inbound.parents[2] / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_text("1...h nan", encoding="utf-8")
    assert collected(inbound).left_out == []
    assert stamp.read_text(encoding="utf-8") == EARLY


def test_a_folder_that_became_a_link_is_owned_by_who_made_the_link(tmp_path: Path):
    link = tmp_path / f"victim+{LESSON}+{EARLY}+x"
    link.symlink_to("/")
    if os.geteuid() == 0:
        os.lchown(link, 65534, 65534)
    assert collect._owner(link) != "root"

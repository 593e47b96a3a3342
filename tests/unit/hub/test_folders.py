"""The folders of a class's hub: who may enter, and where work is handed in."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.folders import close, make_place
from hub.settings import HubSettings
from utils.lab.exchange import COURSE_ID
from utils.lab.settings import FILE as COURSE_FILE


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    root = tmp_path / "clone"
    for name in (".venv", "solutions"):
        (root / name).mkdir(parents=True)
        (root / name).chmod(0o755)
    (root / "gradebook.db").touch(mode=0o644)
    return root


@pytest.fixture
def settings(tmp_path: Path) -> HubSettings:
    return HubSettings(("ada",), place=tmp_path / "place")


def test_a_closed_clone_shows_others_its_environment_alone(clone: Path) -> None:
    (clone / "link").symlink_to("gradebook.db")
    close(clone)
    assert mode(clone) == 0o711
    assert mode(clone / ".venv") == 0o755
    assert [mode(clone / name) & 0o007 for name in ("solutions", "gradebook.db")] == [0, 0]


def test_the_place_is_open_its_state_closed_and_inbound_writable_but_not_listed(
    clone: Path, settings: HubSettings
) -> None:
    before = os.umask(0)
    try:
        make_place(clone, settings)
    finally:
        os.umask(before)
    course = settings.exchange / COURSE_ID
    assert mode(settings.place) == 0o755
    assert mode(settings.state) == 0o700
    assert mode(settings.exchange) == 0o1777
    assert mode(course) == 0o755
    assert mode(course / "inbound") == 0o3733


def test_a_place_that_was_there_before_keeps_its_mode(clone: Path, settings: HubSettings) -> None:
    settings.place.mkdir()
    settings.place.chmod(0o1777)
    make_place(clone, settings)
    assert mode(settings.place) == 0o1777


def test_a_place_that_students_cannot_enter_is_refused(clone: Path, settings: HubSettings) -> None:
    settings.place.mkdir(mode=0o700)
    with pytest.raises(CourseError, match="Students cannot enter"):
        make_place(clone, settings)
    assert not settings.exchange.exists()


def test_making_the_place_again_changes_nothing(clone: Path, settings: HubSettings) -> None:
    make_place(clone, settings)
    (settings.exchange / COURSE_ID / "inbound" / "hand-in").touch()
    told = (clone / COURSE_FILE).read_text(encoding="utf-8")
    make_place(clone, settings)
    assert (settings.exchange / COURSE_ID / "inbound" / "hand-in").exists()
    assert (clone / COURSE_FILE).read_text(encoding="utf-8") == told


def test_the_clone_is_told_where_work_is_handed_in_and_keeps_what_it_was_told(
    clone: Path, settings: HubSettings
) -> None:
    deadline = "[due]\n02_attention = 2026-10-12T23:59:00\n"
    (clone / COURSE_FILE).write_text(deadline, encoding="utf-8")
    make_place(clone, settings)
    text = (clone / COURSE_FILE).read_text(encoding="utf-8")
    assert text == f'submit = "{settings.exchange}"\n{deadline}'


@pytest.mark.parametrize("elsewhere", ["/srv/another/exchange", "Moodle, below Lesson 2"])
def test_a_clone_that_is_handed_in_elsewhere_is_refused_before_anything_is_made(
    clone: Path, settings: HubSettings, elsewhere: str
) -> None:
    (clone / COURSE_FILE).write_text(f'submit = "{elsewhere}"\n', encoding="utf-8")
    with pytest.raises(CourseError, match="students hand in at"):
        make_place(clone, settings)
    assert not settings.place.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for another account")
def test_the_exchange_belongs_to_who_owns_the_clone(clone: Path, settings: HubSettings) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(clone, nobody.pw_uid, nobody.pw_gid)
    make_place(clone, settings)
    made = [settings.exchange, settings.exchange / COURSE_ID / "inbound", clone / COURSE_FILE]
    assert {path.owner() for path in made} == {"nobody"}
    assert settings.state.owner() == "root"

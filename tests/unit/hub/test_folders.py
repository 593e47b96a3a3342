"""The folders of a class's hub: who may enter, and where work is handed in."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from grader.errors import CourseError
from hub.folders import make_environment, make_place
from hub.settings import HubSettings
from utils.lab.exchange import COURSE_ID
from utils.lab.settings import FILE as COURSE_FILE


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    root = tmp_path / "clone"
    packages = root / ".venv/lib/site-packages"
    for folder in (packages / "torch", root / ".venv/bin", root / ".venv/proxy"):
        folder.mkdir(parents=True)
    for name in ("torch/code.py", "__editable__.transformer_encoder_course.pth"):
        (packages / name).write_text("written once")
    (root / ".venv/bin/python").symlink_to("/usr/bin/python3")
    (root / ".venv/bin/jupyter").write_text(f"#!{root}/.venv/bin/python\n")
    (root / ".venv/set-up-hub").write_text("versions")
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    return root


@pytest.fixture
def settings(tmp_path: Path) -> HubSettings:
    return HubSettings(place=tmp_path / "place")


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
    settings.place.chmod(0o711)
    make_place(clone, settings)
    assert mode(settings.place) == 0o711


def test_a_place_that_students_cannot_enter_is_refused(clone: Path, settings: HubSettings) -> None:
    settings.place.mkdir(mode=0o700)
    with pytest.raises(CourseError, match="Students cannot enter"):
        make_place(clone, settings)
    assert not settings.exchange.exists()


@pytest.mark.parametrize("wide", [0o1777, 0o777, 0o775])
def test_a_place_that_others_can_write_is_refused_for_root_would_run_what_they_put_there(
    clone: Path, settings: HubSettings, wide: int
) -> None:
    settings.place.mkdir()
    settings.place.chmod(wide)
    with pytest.raises(CourseError, match="Others than the hub can put files"):
        make_place(clone, settings)
    assert list(settings.place.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another account")
def test_a_place_of_another_account_is_refused(clone: Path, settings: HubSettings) -> None:
    settings.place.mkdir(mode=0o755)
    os.chown(settings.place, 64101, 64101)
    with pytest.raises(CourseError, match="Others than the hub can put files"):
        make_place(clone, settings)


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


def test_students_get_an_environment_that_holds_nothing_of_the_clone(
    clone: Path, settings: HubSettings
) -> None:
    make_place(clone, settings)
    make_environment(clone, settings)
    found = {str(p.relative_to(settings.environment)) for p in settings.environment.rglob("*")}
    assert found == {
        "lib", "lib/site-packages", "lib/site-packages/torch", "lib/site-packages/torch/code.py",
        "bin", "bin/python", "set-up-hub",
    }  # fmt: skip
    assert (settings.environment / "bin/python").readlink() == Path("/usr/bin/python3")


def test_it_can_be_read_by_all_written_by_none_and_the_clones_stays_closed(
    clone: Path, settings: HubSettings
) -> None:
    make_place(clone, settings)
    (clone / ".venv/lib/site-packages/torch/code.py").chmod(0o660)
    make_environment(clone, settings)
    code = settings.environment / "lib/site-packages/torch/code.py"
    assert [mode(path) & 0o077 for path in (code, *code.parents[:4])] == [0o044] + [0o055] * 4
    assert mode(clone / ".venv/lib/site-packages/torch/code.py") == 0o660
    assert code.stat().st_ino != (clone / ".venv/lib/site-packages/torch/code.py").stat().st_ino


def test_it_is_made_anew_when_other_versions_were_set_up(
    clone: Path, settings: HubSettings
) -> None:
    make_place(clone, settings)
    code = settings.environment / "lib/site-packages/torch/code.py"
    for versions, text in (("versions", "written once"), ("others", "written twice")):
        (clone / ".venv/set-up-hub").write_text(versions)
        make_environment(clone, settings)
        assert code.read_text() == text
        (clone / ".venv/lib/site-packages/torch/code.py").write_text("written twice")
        make_environment(clone, settings)
        assert code.read_text() == text
    names = {path.name for path in settings.place.iterdir()}
    assert names == {"environment", "exchange", "state"}

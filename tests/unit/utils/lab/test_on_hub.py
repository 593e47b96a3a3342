"""A learner's copy of the course on a class's hub."""

import os
from pathlib import Path
from typing import Any

import pytest

from utils.lab import on_hub
from utils.lab.exchange import Course
from utils.lab.on_hub import STAMP, renew


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """What the hub serves: a module, a notebook, a setting."""
    folder = tmp_path / "served"
    for name in ("utils/errors.py", "notebooks/00/00.ipynb", "course.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"served {name}")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_first_start_copies_the_course(served: Path, home: Path) -> None:
    renew(served, home)
    assert files(home) == {*files(served), STAMP}


def test_a_start_with_the_same_course_writes_nothing(served: Path, home: Path) -> None:
    renew(served, home)
    (home / "utils/errors.py").write_text("of the learner")
    renew(served, home)
    assert (home / "utils/errors.py").read_text() == "of the learner"


def test_a_newer_course_replaces_the_copy_and_leaves_the_learners_work(
    served: Path, home: Path
) -> None:
    renew(served, home)
    for name in ("learn/00/00.ipynb", ".course/submitted", "utils/gone.py"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("of the learner")
    (served / "utils/errors.py").write_text("a newer one")
    (served / "course.toml").write_text("another setting")
    renew(served, home)
    assert (home / "utils/errors.py").read_text() == "a newer one"
    assert (home / "course.toml").read_text() == "another setting"
    assert not (home / "utils/gone.py").exists()
    assert (home / "learn/00/00.ipynb").read_text() == "of the learner"
    assert (home / ".course/submitted").exists()


def test_a_part_that_was_removed_comes_back(served: Path, home: Path) -> None:
    renew(served, home)
    (home / "course.toml").unlink()
    renew(served, home)
    assert (home / "course.toml").exists()


def test_a_link_in_the_place_of_a_part_is_replaced_and_not_followed(
    served: Path, home: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home.mkdir()
    (home / "utils").symlink_to(elsewhere)
    renew(served, home)
    assert not (home / "utils").is_symlink()
    assert list(elsewhere.iterdir()) == []


def test_the_server_opens_the_copy_in_the_home_under_the_hubs_name(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[Course, Any]] = []
    monkeypatch.setattr(on_hub, "__file__", str(served / "utils/lab/on_hub.py"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setitem(os.environ, "JUPYTERHUB_USER", "ada")
    monkeypatch.setattr(
        on_hub, "open_course", lambda course, _, settings, **__: opened.append((course, settings))
    )
    on_hub.main([])
    ((course, settings),) = opened
    assert course.root == tmp_path / on_hub.NAME
    assert (course.root / "course.toml").exists()
    assert settings.CourseDirectory.student_id == "ada"


def test_a_home_that_cannot_be_written_is_told_in_a_sentence(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_hub, "__file__", str(served / "utils/lab/on_hub.py"))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "file")
    with pytest.raises(SystemExit, match="The course could not be copied to"):
        on_hub.main([])

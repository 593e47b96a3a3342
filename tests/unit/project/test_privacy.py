"""What holds names, ids, grades or the class's secret is never offered to git."""

import re
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from traitlets import HasTraits

from grader.course import archive, private, report, secret
from grader.gradebook import backups
from grader.grading import changes
from tests.unit.course_files import ROOT

DEEP = "ada/02_attention/02_attention.ipynb"
# A semester's lists and tables, as the instructor's page calls them.
ON_THE_PAGE = sorted(
    set(re.findall(r"[\w-]+\.(?:csv|db|zip)\b", (ROOT / "docs/instructors.md").read_text()))
)


def default(kind: type[HasTraits], name: str) -> str:
    """The default of one of nbgrader's settings."""
    return str(kind.class_traits()[name].default_value)


NBGRADERS = [
    default(CourseDirectory, f"{step}_directory")
    for step in ("submitted", "autograded", "feedback")
] + [default(ZipCollectApp, "downloaded_directory")]
FILES = [
    *(pattern.replace("*", end) for pattern in private.FILES for end in ("", "-journal")),
    "gradebook.db.2026-11-23",  # nbgrader's own copies, made when its tables change
    "gradebook-backup.db",  # of gradebook backup, if it is given no name
    f"{report.FOLDER}/{report.GRADES}",
    f"{changes.FOLDER}/{changes.FILE}",
    f"{report.FOLDER}/students/ada.html",
    "lms/roster.json",
    ".course/extensions.json",
    ".course/demo/gradebook.db",
    f"{private.ARCHIVE}/transformer-encoder-2026-11-23.tar.gz",
    "dist/transformer-encoder-course.zip",
    "grades.csv",  # nbgrader's own export
    "hub-passwords.csv",
    "hub.toml",
    f"learn/{DEEP}",
]


def ignored(paths: Collection[str], folder: Path) -> set[str]:
    """Which of the paths git ignores, in a repository with nothing but our rules."""
    shutil.copy(ROOT / ".gitignore", folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    seen = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return set(paths) - set(seen.splitlines())


def test_every_folder_that_is_closed_to_others_is_ignored(tmp_path: Path) -> None:
    paths = {f"{name}/{DEEP}" for name in private.FOLDERS}
    assert ignored(paths, tmp_path) == paths


def test_nbgraders_own_folders_and_ours_are_among_those_that_are_closed() -> None:
    assert {name.split("/")[0] for name in NBGRADERS} <= set(private.FOLDERS)
    ours = {report.FOLDER, changes.FOLDER, backups.FOLDER, *archive.TAKEN}
    assert ours <= set(private.FOLDERS)
    assert secret.FILE in private.FILES


@pytest.mark.parametrize("path", [*FILES, *ON_THE_PAGE])
def test_every_file_with_names_grades_or_the_secret_is_ignored(tmp_path: Path, path: str) -> None:
    assert ignored({path}, tmp_path) == {path}


@pytest.mark.parametrize("path", ["solutions/07_new.py", "docs/new.md", "bench/results/new.json"])
def test_what_belongs_to_the_course_is_not_ignored(tmp_path: Path, path: str) -> None:
    assert ignored({path}, tmp_path) == set()


def test_git_keeps_no_file_with_names_grades_or_the_secret() -> None:
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    tops = {name.split("/")[0] for name in kept.stdout.splitlines()}
    assert "solutions" in tops
    assert tops & set(private.FOLDERS) == set()
    assert [name for name in kept.stdout.splitlines() if name.endswith((".csv", ".db"))] == []

"""Zip what students need, as last committed, with their own README, Makefile and CI workflow."""

import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Final

from grader.errors import CourseError
from utils.lab.settings import FILE, Settings

NAME: Final = "transformer-encoder-course"
# Of the recorded figures those that lessons draw: others quote the solutions.
TAKEN: Final = (
    "LICENSE", "bench/results/norm_order.json", "bench/results/positions.json",
    "bench/results/pretrained.json", "bench/results/pretrained_tagging.json",
    "bench/results/tagging_contest.json", "constraints.txt", "environment.yml", "notebooks",
    "pyproject.toml", "setup.sh", "slides", "utils",
)  # fmt: skip
ADDED: Final = "grader/bundle/files"  # what lies here lies at the top of the bundle
UNSET: Final = "where your instructor says"


def pack(root: Path, settings: Settings, target: Path) -> None:
    """Write the bundle.

    Args:
        root: the course's folder, a git repository with at least one commit.
        settings: of the class; students get them as their `course.toml`.
        target: the zip file to write; one that is there is replaced.

    Raises:
        CourseError: git cannot give what was last committed.

    """
    parts = [_archive(root, "HEAD", *TAKEN), _archive(root, f"HEAD:{ADDED}")]
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for part in map(zipfile.ZipFile, parts):
            files = [entry for entry in part.infolist() if not entry.is_dir()]
            for entry in files:
                content = part.read(entry)
                entry.filename = f"{NAME}/{entry.filename}"  # all below one folder
                bundle.writestr(entry, content)
        made = zipfile.ZipInfo(f"{NAME}/{FILE}", files[0].date_time)
        made.external_attr = 0o644 << 16
        bundle.writestr(made, as_toml(settings))


def as_toml(settings: Settings) -> str:
    """Return the settings that students get, in the form that `utils/lab/settings.py` reads."""
    submit = str(settings.shared or settings.upload or UNSET)
    lines = ["# Written by your instructor's `make bundle`.", f"submit = {json.dumps(submit)}"]
    lines += ["", "[due]"] if settings.due else []
    lines += [f"{json.dumps(name)} = {at.isoformat()}" for name, at in settings.due.items()]
    return "\n".join(lines) + "\n"


def _archive(root: Path, *what: str) -> io.BytesIO:
    command = ["git", "archive", "--format=zip", *what]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except FileNotFoundError:
        raise CourseError(
            "git was not found; the bundle is made of what was last committed"
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise CourseError(
            f"git cannot give what was last committed: {said}\n"
            "make bundle needs a clone of the course, with its changes committed."
        ) from None
    return io.BytesIO(done.stdout)

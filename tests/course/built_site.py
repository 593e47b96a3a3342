"""The public site, built once for all tests of a run: it takes as long as grading a class."""

import fcntl
import os
from pathlib import Path

import pytest

from grader.authoring.lesson import lessons
from grader.website.build import build_site
from grader.website.hosted import Host
from tests.unit.course_files import ROOT


def built_site(folders: pytest.TempPathFactory) -> Path:
    """Give the folder of the site as built from this course; tests leave it as it is."""
    base = folders.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    site = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process of pytest's may be building it
        if not site.exists():
            build_site(ROOT, lessons(ROOT), Host("ada/course"), shared / "unfinished")
            (shared / "unfinished").rename(site)
    return site

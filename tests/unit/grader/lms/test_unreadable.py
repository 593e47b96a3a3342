"""A download meets hand-ins in submitted/ that cannot be read: they stay, and it is told."""

import pytest

from grader.cli import main
from tests.unit.grader.lms.downloads import LESSON, notebook, small_course, write_zip
from tests.unit.grader.odd_files import opening_fails

FILE = f"{LESSON}.ipynb"
ADA, BEN = f"lovelaceada_11_101_{FILE}", f"oneillbjorn_12_102_{FILE}"


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_course(tmp_path)


def collect(course, items):
    archive = write_zip(course.folder / "all.zip", items)
    return main(["collect", "canvas", str(archive), "--roster", "roster.csv"])


@pytest.mark.parametrize("name", [FILE, "timestamp.txt"])
def test_it_stays_and_is_told_with_what_helps_and_the_others_are_collected(
    course, monkeypatch, capsys, name
):
    collect(course, {ADA: notebook("first = 1")})
    place = course.folder / "submitted" / "ada" / LESSON
    capsys.readouterr()
    opening_fails(monkeypatch, name, below="submitted/ada")
    newer = ADA.replace("101", "103")
    assert collect(course, {newer: notebook("second = 2"), BEN: notebook()}) == 1
    told = capsys.readouterr().out
    assert f"{newer}: {place / name} cannot be read (Permission denied). Give yourself" in told
    assert (place / FILE).read_bytes() == notebook("first = 1")
    assert (course.folder / "submitted" / "b,en" / LESSON / FILE).read_bytes() == notebook()

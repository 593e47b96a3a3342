"""What `make lab` offers to fetch, and `make offline` fetches."""

from dataclasses import replace

import pytest

from utils import offline
from utils.download import has_sha256

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of no bytes


@pytest.fixture(autouse=True)
def publisher(monkeypatch, tmp_path):
    """Empty files in the place of the published ones, and nothing fetched yet."""
    for variable in ("COURSE_DATA", "COURSE_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(offline, "MODEL_PACKAGE", "no_such_package")
    (tmp_path / "web").mkdir()
    for name in ("ENGLISH", "MODEL"):
        there = getattr(offline, name)
        for file in there.files:
            (tmp_path / "web" / file).touch()
        files = dict.fromkeys(there.files, has_sha256(EMPTY))
        here = replace(there, address=(tmp_path / "web").as_uri(), files=files)
        monkeypatch.setattr(offline, name, here)
    return tmp_path / "web"


def test_what_is_missing_is_offered_with_its_size_until_it_is_here(capsys):
    line = offline.offer()
    assert "06 and 07 (18 MB)" in line and "lesson 07 (91 MB)" in line and "make offline" in line
    offline.main()
    assert "works without a network" in capsys.readouterr().out
    assert offline.offer() == ""


def test_ones_own_files_are_not_offered(monkeypatch):
    monkeypatch.setenv("COURSE_DATA", "made-up")
    assert "text" not in offline.offer() and "model" in offline.offer()
    monkeypatch.setenv("COURSE_MODEL", "tiny")
    assert offline.offer() == ""


def test_what_can_be_fetched_is_fetched_where_one_file_is_missing(publisher, capsys):
    (publisher / "en_ewt-ud-test.conllu").unlink()
    with pytest.raises(SystemExit, match="Not everything is here"):
        offline.main()
    assert "could not be fetched" in capsys.readouterr().out
    assert list(offline.needs()) == ["the text of lessons 06 and 07"]
